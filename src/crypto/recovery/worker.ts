import { hexToBytes } from '@tandem/base/bytes.ts'
import { serveWorker, Transferred } from '@tandem/base/worker/serve-worker.ts'
import { type RecoveryMethods, recoverRequest } from './batch.ts'
import { recoverSender } from './recover-sender.ts'

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

/** Example of EIP-155: recovered once as the thread starts, so that the first transaction finds the code loaded and compiled. */
const EXAMPLE =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83'

recoverSender(hexToBytes(EXAMPLE))
