"""The program under a recorder: no engine, cluster, login or network."""
