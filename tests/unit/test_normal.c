// The normal distribution's tail against published values and its inverse.
#include "../test.h"

#include <math.h>

// M. Abramowitz & I. A. Stegun, Handbook of Mathematical Functions, table 26.2 and the expansion behind it.
TEST(normal_tail_has_its_published_values)
{
    static const double cases[][2] = {{0.0, 0.5},
                                      {0.5, 0.30853753872598690},
                                      {1.0, 0.15865525393145705},
                                      {2.0, 0.022750131948179207},
                                      {3.0, 0.0013498980316300946},
                                      {5.0, 2.8665157187919391e-07},
                                      {10.0, 7.6198530241605261e-24},
                                      {-1.0, 0.84134474606854295}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(1.0, normal_tail(cases[i][0]) / cases[i][1], 1e-13);
}

TEST(normal_tail_is_smooth_where_its_formula_changes)
{
    for (double z = 2.4; z < 2.6; z += 1e-3) CHECK(normal_tail(z + 1e-3) < normal_tail(z));
    CHECK_NEAR(1.0, normal_tail(2.5) / normal_tail(2.5 - 1e-15), 1e-13);
}

TEST(normal_tail_inverse_is_its_inverse)
{
    for (double z = -6.0; z <= 8.0; z += 0.25)
        CHECK_NEAR(z, normal_tail_inverse(normal_tail(z)), z < 0.0 ? 1e-7 : 1e-11);
    CHECK(normal_tail_inverse(0.0) >= 37.0 && isfinite(normal_tail_inverse(0.0)));
}

// The tail through the density, on both sides of where the formula changes; R(10) and 1 - 10 R(10) by 50 digits.
TEST(normal_mills_is_a_ratio)
{
    double rest;
    for (double z = 0.0; z < 6.0; z += 0.25) {
        const double density = 0.3989422804014327 * portable_exp(-0.5 * z * z);
        CHECK_NEAR(1.0, normal_mills(z, &rest) * density / normal_tail(z), 1e-13);
        CHECK_NEAR(1.0 - z * normal_mills(z, &rest), rest, 1e-13);
    }
    CHECK_NEAR(1.0, normal_mills(10.0, &rest) / 0.099028596471731926, 1e-13);
    CHECK_NEAR(1.0, rest / 0.009714035282680786, 1e-11);
}
