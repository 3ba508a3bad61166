import os


class Base:
    def describe(self):
        return os.path


class Child(Base):
    def show(self):
        self.des
        #       ^ expect: describe; rank <= 1
        #         leaves: self.describe
        return os.pa
        #           ^ expect: path, pathsep; not: describe, print


def go(child: Child):
    for other in [child]:
        oth
        #  ^ expect: other
        #    rank <= 2
