import { serveLogQueries } from '../../../chain/logs/log-server.ts'
import { logJson } from '../../encode/log.ts'

// The script of the thread for log queries over ranges: thousands of logs are found and written as JSON here, not where blocks
// are made.
await serveLogQueries(entry => logJson(entry, entry))
