import { lowerThreadPriority } from '@tandem/base/worker/priority.ts'
import { serveLogQueries } from '../../chain/logs/log-server.ts'
import { logWriter } from './log.ts'

// Entry of the worker thread for log queries over ranges: it finds logs and writes their JSON off the thread that makes blocks.
lowerThreadPriority()
void serveLogQueries(logWriter)
