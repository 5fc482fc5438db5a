"""The drives of the papers, made smaller: their dies and times are those of the paper, their blocks are fewer."""


class Scaled:
    def __init__(self, name, sets):
        self.name, self.sets = name, sets

    def args(self, scheme):
        return [self.name, "--scheme", scheme, "--aged", *[a for s in self.sets for a in ("--set", s)]]


# 128 LUNs; a line of 256 MiB instead of 2 GiB, and 40 of them instead of 1,067.
TOS = Scaled("cnex-westlake", ["geometry.blocks=40", "geometry.pages=64"])
# 64 dies; 64 blocks a plane instead of 4,096.
FAST = Scaled("ttflash-256g", ["geometry.blocks=64"])
# 16 dies of 8 planes; 64 blocks of 192 pages a plane instead of 683 of 768.
ATC = Scaled("z-ssd", ["geometry.blocks=64", "geometry.pages=192", "ftl.over_provisioning=12.7%"])
