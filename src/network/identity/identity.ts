import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { isUnspecifiedAddress } from '@tandem/base/address.ts'
import { bytesToHex, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import type { PeerRecord } from '../core/address-book.ts'
import { NETWORK_PROTOCOL_VERSION } from '../messages/messages.ts'
import type { ChainPort } from '../messages/ports.ts'
import type { SecureChannel } from '../transport/secure-channel.ts'
import type { ChainDomain, Hello, Ping } from '../wire/control.ts'
import { createForkFilter, type ForkFilter } from './fork-id.ts'
import type { NetworkOptions } from './options.ts'
import { signPeerRecord } from './peer-record.ts'
import type { HelloContext } from './validate-hello.ts'
import { proveValidator } from './validator-proof.ts'

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

  /** Returns the current context for the validation of hellos. */
  scene(): Omit<HelloContext, 'nodeId' | 'dialed' | 'binding'> {
    return {
      domain: this.domain,
      forks: this.forks,
      selfId: this.id,
      head: this.#chain.head().number,
    }
  }
}
