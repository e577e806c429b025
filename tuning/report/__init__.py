"""report.html: the results of an experiment as one page that needs nothing else."""
