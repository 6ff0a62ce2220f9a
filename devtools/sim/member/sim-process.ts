import { silentLogger } from '@tandem/base/logger.ts'
import { createConsensusEngine } from '../../../src/consensus/engine/engine.ts'
import type { ConsensusEngine, ConsensusParams } from '../../../src/consensus/engine/types.ts'
import type { CommitteePort, NetworkPort } from '../../../src/consensus/ports.ts'
import { openWal } from '../../../src/consensus/wal/wal.ts'
import { openWatermark } from '../../../src/consensus/wal/watermark.ts'
import { ProofPool } from '../../../src/powchain/proof-pool.ts'
import type { ProofNetworkPort } from '../../../src/powchain/proof-relay.ts'
import { createProofRelay, type ProofRelay } from '../../../src/powchain/proof-relay.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type { BlockClaim, ConsensusMessage, MessageAcceptance } from '../../../src/primitives/consensus/message.ts'
import { checkedExecution } from '../check/execution.ts'
import type { InvariantChecker } from '../check/invariants.ts'
import { OmissionCheck } from '../check/omission.ts'
import { WasteCheck } from '../check/waste.ts'
import type { Keys } from '../keys.ts'
import { readBlock } from '../network/envelope.ts'
import { processClock, type WallClock } from './clock.ts'
import type { Disk } from './disk.ts'
import type { OnSlice } from './executions.ts'
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
  readonly heldBlocks: number
  readonly checker: InvariantChecker
  readonly disk: Disk
  readonly ledger: Ledger
  readonly wall: WallClock
}

const blocks = { encode: encodeBlock, decode: async (bytes: Uint8Array) => readBlock(bytes) }

/** Networks of a process. */
interface ProcessNetworks {
  readonly consensus: NetworkPort
  readonly proofs: ProofNetworkPort
}

/** Running process. */
interface SimProcess {
  readonly engine: ConsensusEngine
  readonly pool: ProofPool
}

/** The pool of proof headers that ships, its gossip, and the check of its vote rule. */
const startProofs = (
  host: Host,
  { node, checker, ledger, wall }: ProcessEnvironment,
  network: ProofNetworkPort,
): { readonly pool: ProofPool; readonly relay: ProofRelay; readonly omissions: OmissionCheck } => {
  const { params, verifier } = ledger.proofs
  const hashOf = (number: number) => ledger.hashAt(number)
  const pool = new ProofPool({ params, head: ledger.mainHead(), hashOf, verifier })
  const relay = createProofRelay({ pool, network, clock: processClock(wall, host), logger: silentLogger })
  const omissions = new OmissionCheck({
    nowMs: () => wall.nowMs(),
    tipId: () => ledger.proofState.tipId,
    maxAnchorAgeBlocks: params.proofChain.maxAnchorAgeBlocks,
    report: text => checker.report('omission', `member ${node} ${text}`),
    onRefused: () => checker.omissions++,
  })
  pool.onAdded(added => omissions.added(added))
  relay.start()
  return { pool, relay, omissions }
}

/** Starts the real engine with its log and watermark on a simulated machine. Resolves when it runs. */
export const startProcess = async (
  host: Host,
  environment: ProcessEnvironment,
  { consensus: network, proofs }: ProcessNetworks,
): Promise<SimProcess> => {
  const { node, keys, params, council, heldBlocks, checker, disk, ledger, wall } = environment
  const files = disk.open(host)
  const { pool, relay, omissions } = startProofs(host, environment, proofs)
  const processProofs = { pool, nowMs: () => wall.nowMs(), committed: () => relay.remind() }
  const waste = new WasteCheck({
    place: () => engine.status(),
    report: text => checker.report('waste', `member ${node} ${text}`),
  })
  const onSlice: OnSlice = (hash, place) => waste.validating(hash, place)
  const engine: ConsensusEngine = createConsensusEngine({
    ports: {
      execution: checkedExecution(omissions.wrap(ledger.port(host, onSlice, processProofs)), {
        hashAt: number => ledger.hashAt(number),
        committee: number => council.committee(number),
        // What is left of a turn in which the power went has no effect.
        report: text => host.isDead || checker.report('validity', `member ${node} ${text}`),
      }),
      committee: council,
      network: waste.wrap(network),
      blocks,
      evidence: { report: evidence => checker.accused(node, evidence) },
    },
    clock: processClock(wall, host),
    signer: keys.signers[node] ?? null,
    recover: keys.recover,
    wal: await openWal(files, WAL_FILE),
    watermark: await openWatermark(files, WATERMARK_FILE),
    params,
    heldBlocks,
    logger: silentLogger,
    onFatal: error => {
      if (!host.isDead) checker.report('gave up', `member ${node}: ${error.message}`)
    },
  })
  await engine.start()
  return { engine, pool }
}

/** Listener of an engine. */
export interface ConsensusListener {
  readonly hear: (message: ConsensusMessage, from: string) => MessageAcceptance
  readonly validateClaim: (claim: BlockClaim, from: string) => 'accept' | 'reject' | 'ignore'
}
