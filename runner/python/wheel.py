"""setup.py of the wheel that `make wheel` builds: it holds programs of Linux, and works with every Python 3."""

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel


class WithPrograms(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "manylinux_2_28_x86_64"


setup(
    distclass=WithPrograms,
    cmdclass={"bdist_wheel": Wheel},
    py_modules=["_hopscotch_program"],
    entry_points={"console_scripts": ["hopscotch = _hopscotch_program:main"]},
    package_data={"hopscotch": ["bin/*", "lib/*", "share/**/*"]},
)
