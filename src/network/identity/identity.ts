import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { isUnspecifiedAddress } from '@tandem/base/address.ts'
import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { PeerRecord } from '../core/address-book.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { ChainDomain, Hello, Ping } from '../messages/control-messages.ts'
import { NETWORK_PROTOCOL_VERSION } from '../messages/messages.ts'
import type { ChainPort } from '../messages/ports.ts'
import type { SecureChannel } from '../transport/secure-channel.ts'
import { createForkFilter, type ForkFilter } from './fork-id.ts'
import type { NetworkOptions } from './options.ts'
import { signPeerRecord } from './peer-record.ts'
import { isValidProof, proveValidator } from './validator-proof.ts'

/** Reason for ending a handshake, with what a person needs to find its cause. */
export interface HelloRefusal {
  readonly reason: DisconnectReason
  readonly detail: string
}

const refuse = (reason: DisconnectReason, detail: string): HelloRefusal => ({ reason, detail })
const differs = (reason: DisconnectReason, got: Hex | number, want: Hex | number): HelloRefusal =>
  refuse(reason, `got ${got}, want ${want}`)

/** Identity of this node in handshakes and records. */
export class Identity {
  readonly domain: ChainDomain
  readonly forks: ForkFilter
  readonly #options: NetworkOptions
  readonly #chain: ChainPort
  readonly #statics: ReadonlySet<string>
  readonly #instance = bytesToHex(new Uint8Array(randomBytes(8)))
  /** Record of its address; null: it listens at no address that others can use. */
  record: PeerRecord | null = null
  /** Sequence of its last record, kept over restarts: the clock may have been ahead then. */
  sequence = 0

  /** `statics`: peers named by the operator, as they change. */
  constructor(options: NetworkOptions, chain: ChainPort, statics: ReadonlySet<string>) {
    const { chainId, genesisHash, forks } = options
    this.#options = options
    this.#chain = chain
    this.#statics = statics
    this.domain = { chainId, genesisHash }
    this.forks = createForkFilter(genesisHash, forks)
  }

  get id(): string {
    return this.#options.nodeKey.id
  }

  /** Record shared with other nodes; null for a node that uses only its static peers. */
  get published(): PeerRecord | null {
    return (this.#options.discovers ?? true) ? this.record : null
  }

  /** Makes the record of a node that listens on `port`, if there is an address that others can use. */
  publish(port: number): void {
    const { advertise, listen, nodeKey, validator, clock } = this.#options
    const host = advertise?.host ?? listen?.host ?? ''
    if (isIP(host) === 0 || isUnspecifiedAddress(host)) return
    this.sequence = Math.max(clock.nowMs(), this.sequence + 1)
    this.record = signPeerRecord({
      domain: this.domain,
      key: nodeKey,
      sequence: this.sequence,
      host,
      port: advertise?.port ?? port,
      signer: validator,
    })
  }

  /** `wanted`: id of the dialed node; another is not shown the validator. Behind sentries only they and static peers are. */
  hello({ binding, nodeId }: SecureChannel, wanted = nodeId): Hello {
    const { chainId, genesisHash, clientVersion, validator, discovers = true, relays = [] } = this.#options
    const isHidden = !discovers && relays.length > 0
    const isShown = wanted === nodeId && (!isHidden || relays.includes(nodeId) || this.#statics.has(nodeId))
    const { head, earliest } = this.ping()
    const fork = this.forks.at(head.number)
    return {
      version: NETWORK_PROTOCOL_VERSION,
      chainId,
      genesisHash,
      forkHash: fork.hash,
      forkNext: fork.next,
      nodeId: this.id,
      instance: this.#instance,
      client: clientVersion,
      head,
      earliest,
      record: this.published?.bytes ?? EMPTY_BYTES,
      proof: isShown ? validator && proveValidator(validator, this.domain, this.id, binding) : null,
    }
  }

  ping(): Ping {
    return { head: this.#chain.head(), earliest: this.#chain.earliest() }
  }

  /** Returns the reason for refusing a hello, cheap checks first, the signature last. `dialed`: id of the dialed node; null: it dialed. */
  validateHello(hello: Hello, { nodeId, binding }: SecureChannel, dialed: string | null): HelloRefusal | undefined {
    const { domain, forks } = this
    const head = this.#chain.head().number
    if (hello.nodeId !== nodeId) return refuse('wrongIdentity', `says ${hello.nodeId}, proved ${nodeId}`)
    if (nodeId === this.id) return refuse('self', 'it is this node')
    if (dialed !== null && dialed !== nodeId) return refuse('wrongIdentity', `dialed ${dialed}, got ${nodeId}`)
    if (hello.chainId !== domain.chainId) return differs('wrongChain', hello.chainId, domain.chainId)
    if (hello.genesisHash !== domain.genesisHash) return differs('wrongGenesis', hello.genesisHash, domain.genesisHash)
    if (!forks.accepts({ hash: hello.forkHash, next: hello.forkNext }, head)) {
      const own = forks.at(head)
      return refuse('wrongForks', `got ${hello.forkHash}/${hello.forkNext}, have ${own.hash}/${own.next}`)
    }
    if (hello.proof !== null && !isValidProof(hello.proof, domain, nodeId, binding))
      return refuse('badProof', `not signed by ${hello.proof.address} for this connection`)
    return undefined
  }
}
