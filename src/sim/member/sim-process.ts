import { createConsensusEngine } from '../../consensus/engine/engine.ts'
import type { ConsensusEngine, ConsensusParams } from '../../consensus/engine/types.ts'
import type { CommitteePort, NetworkPort } from '../../consensus/ports.ts'
import { openWatermark } from '../../consensus/signer/watermark.ts'
import { openWal } from '../../consensus/wal/wal.ts'
import { encodeBlock } from '../../primitives/block.ts'
import type { BlockClaim } from '../../primitives/block-claim.ts'
import type { ConsensusMessage } from '../../primitives/consensus/message.ts'
import { silentLogger } from '../../util/logger.ts'
import { checkedExecution } from '../check/execution.ts'
import type { Referee } from '../check/invariants.ts'
import { readBlock } from '../envelope.ts'
import type { Keys } from '../keys.ts'
import { processClock, type WallClock } from './clock.ts'
import type { Disk } from './disk.ts'
import type { Host } from './host.ts'
import type { Ledger } from './ledger.ts'

export const LOG = 'wal'
export const WATERMARK = 'watermark'

/** What a process finds on its machine, and around it. */
export interface Surroundings {
  readonly node: number
  readonly keys: Keys
  readonly params: ConsensusParams
  readonly council: CommitteePort
  readonly referee: Referee
  readonly disk: Disk
  readonly ledger: Ledger
  readonly wall: WallClock
}

const blocks = { encode: encodeBlock, decode: async (bytes: Uint8Array) => readBlock(bytes) }

/** The shipped engine, its log and its watermark, on a simulated machine. Resolves when it runs. */
export const startProcess = async (
  host: Host,
  { node, keys, params, council, referee, disk, ledger, wall }: Surroundings,
  network: NetworkPort,
): Promise<ConsensusEngine> => {
  const files = disk.open(host)
  const engine = createConsensusEngine({
    ports: {
      execution: checkedExecution(ledger.port(host), {
        hashAt: number => ledger.hashAt(number),
        members: number => council.committee(number)?.members ?? [],
        report: text => referee.report('validity', `member ${node} ${text}`),
      }),
      committee: council,
      network,
      blocks,
      evidence: { report: evidence => referee.accused(node, evidence) },
    },
    clock: processClock(wall, host),
    signer: keys.signers[node] ?? null,
    recover: keys.recover,
    wal: await openWal(files, LOG),
    watermark: await openWatermark(files, WATERMARK),
    params,
    logger: silentLogger,
    onFatal: error => {
      if (!host.isDead) referee.report('gave up', `member ${node}: ${error.message}`)
    },
  })
  await engine.start()
  return engine
}

/** What an engine hears by. */
export interface Listener {
  readonly hear: (message: ConsensusMessage, from: string) => void
  readonly judgeClaim: (claim: BlockClaim, from: string) => 'true' | 'false' | 'pointless'
}
