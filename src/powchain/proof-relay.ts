import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import type { ProofHeaderMalformed } from '../primitives/proof-header.ts'
import type { ProofHeaderError } from '../rules/proof/proof-header.ts'
import type { ProofPool } from './proof-pool.ts'

/** Exchange of encoded proof headers with neighbours, at most PROOF_HEADER_BYTES each. */
export interface ProofNetworkPort {
  broadcast(encoded: Uint8Array): void
  onReceived(listener: (encoded: Uint8Array, from: PeerId) => void): () => void
  /** Reports a neighbour whose header breaks a rule on every node. */
  misbehaved(peer: PeerId, reason: string): void
}

interface ProofRelayOptions {
  readonly pool: ProofPool
  readonly network: ProofNetworkPort
  readonly clock: Clock
  readonly logger: Logger
}

/** True where the fault of a header shows on every node: a fault that depends on a node's own head is not charged to the peer. */
const PROVEN: Readonly<Record<(ProofHeaderError | ProofHeaderMalformed)['code'], boolean>> = {
  PROOF_HEADER_MALFORMED: true,
  PROOF_VERSION: true,
  PROOF_PARENT: true,
  PROOF_HEIGHT: true,
  PROOF_COINBASE: true,
  PROOF_ANCHOR_ORDER: true,
  PROOF_ANCHOR_STALE: false,
  PROOF_ANCHOR_FUTURE: false,
  PROOF_ANCHOR_HASH: true,
  PROOF_TARGET: true,
  PROOF_MIX_HASH: true,
  PROOF_WORK: true,
}

/** Exchange of pending proof headers between nodes: a valid one, from any source, is sent to all other neighbours. */
export const createProofRelay = ({ pool, clock, logger, network }: ProofRelayOptions) => {
  let stops: readonly (() => void)[] = []

  const receive = async (encoded: Uint8Array, from: PeerId): Promise<void> => {
    try {
      const outcome = await pool.submit(encoded, clock.nowMs(), from)
      if (outcome !== 'known') logger.debug({ peer: from, outcome }, 'proof header received')
    } catch (error) {
      refused(error, from)
    }
  }

  const refused = (error: unknown, from: PeerId): void => {
    if (!isCoded(error) || !Object.hasOwn(PROVEN, error.code)) {
      logger.error({ err: error }, 'proof header not verified')
      return
    }
    logger.debug({ peer: from, reason: error.message }, 'proof header refused')
    if (PROVEN[error.code as keyof typeof PROVEN]) network.misbehaved(from, `proof header: ${error.code}`)
  }

  return {
    start(): void {
      stops = [
        network.onReceived((encoded, from) => void receive(encoded, from)),
        pool.onAdded(({ bytes }) => network.broadcast(bytes)),
        pool.onRefused(refused),
      ]
    },

    stop(): void {
      for (const stop of stops) stop()
    },

    /** Rebroadcasts the preferred branch; called regularly, for neighbours that connected or restarted since. */
    remind(): void {
      for (const { bytes } of pool.branch()) network.broadcast(bytes)
    },
  }
}

export type ProofRelay = ReturnType<typeof createProofRelay>
