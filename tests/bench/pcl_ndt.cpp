// The point cloud library's normal distributions transform on a pair of clouds: what an iteration takes, one thread.
//   pcl_ndt TARGET.csv SOURCE.csv RESOLUTION      lines of x, y, z
// It searches all voxels whose mean lies within the resolution, as `neighbours: radius` does.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <pcl/point_types.h>
#include <pcl/registration/ndt.h>

typedef pcl::PointCloud<pcl::PointXYZ> Points;

static double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static Points::Ptr read_csv(const char *path)
{
    Points::Ptr points(new Points);
    FILE *file = std::fopen(path, "r");
    char line[256];
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
        pcl::PointXYZ p;
        if (std::sscanf(line, "%f%*[ ,]%f%*[ ,]%f", &p.x, &p.y, &p.z) == 3) points->push_back(p);
    }
    if (file != nullptr) std::fclose(file);
    return points;
}

int main(int n, char **argument)
{
    if (n != 4) return 2;
    const Points::Ptr target = read_csv(argument[1]), source = read_csv(argument[2]);
    if (target->empty() || source->empty()) return 1;
    pcl::NormalDistributionsTransform<pcl::PointXYZ, pcl::PointXYZ> ndt;
    ndt.setResolution(static_cast<float>(std::atof(argument[3])));
    ndt.setStepSize(0.1);
    ndt.setTransformationEpsilon(0.01 * 0.01); // of a squared translation
    ndt.setMaximumIterations(30);
    ndt.setInputTarget(target);
    ndt.setInputSource(source);
    double least = 1e9;
    Points aligned;
    for (int k = 0; k < 5; k++) {
        const double start = seconds();
        ndt.align(aligned);
        const double taken = (seconds() - start) / ndt.getFinalNumIteration();
        least = taken < least ? taken : least;
    }
    std::printf("%.4f ms an iteration, %d iterations of %zu points, TP %.5f\n", 1e3 * least, ndt.getFinalNumIteration(),
                source->size(), ndt.getTransformationLikelihood());
    return 0;
}
