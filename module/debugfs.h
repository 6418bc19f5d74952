/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LEANACCT_DEBUGFS_H
#define LEANACCT_DEBUGFS_H

void leanacct_debugfs_init(void);
void leanacct_debugfs_exit(void);

#endif
