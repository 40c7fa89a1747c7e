"""setup.py of the wheel that `make wheel` builds: it holds programs of Linux, and works with every Python 3."""

from setuptools import setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", "manylinux_2_28_x86_64"


setup(
    cmdclass={"bdist_wheel": Wheel},
    entry_points={"console_scripts": ["hopscotch = hopscotch.program:main"]},
    package_data={"hopscotch": ["bin/*", "lib/*", "share/**/*"]},
)
