import { serveWorker, Transferred } from '../../util/worker/serve-worker.ts'
import { type RecoveryMethods, recoverRequest } from './batch.ts'

/* Thread of the recovery pool. It imports only hashes and signatures, since every worker has its own copy in memory. */
serveWorker<RecoveryMethods>(
  {
    recover(request) {
      const answer = recoverRequest(request)
      return new Transferred(answer, [answer])
    },
  },
  { faults: 'fatal' },
)
