/* Waiting for another thread. */
#ifndef WORKLOADS_BACK_OFF_H
#define WORKLOADS_BACK_OFF_H

/* Called between two polls, with the number of polls before: a few go on at once, then it yields, then it sleeps. */
void back_off(unsigned attempt);

#endif
