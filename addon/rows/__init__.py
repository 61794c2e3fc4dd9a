"""Reading a sheet as rows, and knowing a row again wherever it has moved."""
