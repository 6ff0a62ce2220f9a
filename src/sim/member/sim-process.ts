import { createConsensusEngine } from '../../consensus/engine/engine.ts'
import type { ConsensusEngine, ConsensusParams } from '../../consensus/engine/types.ts'
import type { CommitteePort, NetworkPort, ValidateContext } from '../../consensus/ports.ts'
import { openWatermark } from '../../consensus/signer/watermark.ts'
import { openWal } from '../../consensus/wal/wal.ts'
import { encodeBlock } from '../../primitives/block.ts'
import type { BlockClaim } from '../../primitives/block-claim.ts'
import type { ConsensusMessage } from '../../primitives/consensus/message.ts'
import { silentLogger } from '../../util/logger.ts'
import { checkedExecution } from '../check/execution.ts'
import type { InvariantChecker } from '../check/invariants.ts'
import type { Keys } from '../keys.ts'
import { readBlock } from '../network/envelope.ts'
import { processClock, type WallClock } from './clock.ts'
import type { Disk } from './disk.ts'
import type { Host } from './host.ts'
import type { Ledger } from './ledger.ts'

export const WAL_FILE = 'wal'
export const WATERMARK_FILE = 'watermark'

/** State and surroundings that a process finds on its machine. */
export interface ProcessEnvironment {
  readonly node: number
  readonly keys: Keys
  readonly params: ConsensusParams
  readonly council: CommitteePort
  readonly checker: InvariantChecker
  readonly disk: Disk
  readonly ledger: Ledger
  readonly wall: WallClock
}

const blocks = { encode: encodeBlock, decode: async (bytes: Uint8Array) => readBlock(bytes) }

/** Starts the real engine with its log and watermark on a simulated machine. Resolves when it runs. */
export const startProcess = async (
  host: Host,
  { node, keys, params, council, checker, disk, ledger, wall }: ProcessEnvironment,
  network: NetworkPort,
): Promise<ConsensusEngine> => {
  const files = disk.open(host)
  const onSlice = (place: ValidateContext): void => {
    const { number, round } = engine.status()
    if (place.number > number || (place.number === number && (!place.fresh || place.round >= round))) return
    checker.report('waste', `member ${node} in ${number}/${round} still validates ${place.number}/${place.round}`)
  }
  const engine: ConsensusEngine = createConsensusEngine({
    ports: {
      execution: checkedExecution(ledger.port(host, onSlice), {
        hashAt: number => ledger.hashAt(number),
        members: number => council.committee(number)?.members ?? [],
        report: text => checker.report('validity', `member ${node} ${text}`),
      }),
      committee: council,
      network,
      blocks,
      evidence: { report: evidence => checker.accused(node, evidence) },
    },
    clock: processClock(wall, host),
    signer: keys.signers[node] ?? null,
    recover: keys.recover,
    wal: await openWal(files, WAL_FILE),
    watermark: await openWatermark(files, WATERMARK_FILE),
    params,
    logger: silentLogger,
    onFatal: error => {
      if (!host.isDead) checker.report('gave up', `member ${node}: ${error.message}`)
    },
  })
  await engine.start()
  return engine
}

/** Listener of an engine. */
export interface ConsensusListener {
  readonly hear: (message: ConsensusMessage, from: string) => void
  readonly validateClaim: (claim: BlockClaim, from: string) => 'accept' | 'reject' | 'ignore'
}
