"""What the papers say of the same applications. Figures without numbers in the text are quoted as words."""

ROCKSDB = "TOS'22 section 5.2: RAIL has a 4 times lower p99.9 than pblk below 32 threads; at 32 threads queues in software lengthen both. All serve about as many operations; RAIL-HC follows RAIL closely."
YCSB = "TOS'22 section 5.3, on MongoDB: RAIL has a better p99.9 under A and F; B, C and D stay below 1 ms on all. With 10,000 writes a second beside them p99.9 rises up to 3 times on pblk, and not on RAIL. All serve as many operations."
FILEBENCH = "FAST'17 Figure 8 has the mean read latency of six personalities: that of ttFlash is close to that of a drive without collection, and the base is several times slower. Preemptive collection helps, but only until free blocks run short."
POSTGRES = "No paper has it."
# Ratios to be seen: what, of which scheme to which, the published value, and the share of it that counts as the same shape.
