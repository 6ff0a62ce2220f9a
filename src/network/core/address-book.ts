import { isLoopbackAddress, subscriberOf, wideGroupsOf } from '@tandem/base/address.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { drawn } from '@tandem/base/random.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { sha256 } from '../../crypto/sha256.ts'

/** Record of a node's address, signed with its node key (identity/peer-record.ts). */
export interface PeerRecord {
  /** Grows with each change; of two records of a node the higher counts. */
  readonly sequence: number
  /** Node id, 64 hex digits. */
  readonly id: string
  /** An IP address, as text. */
  readonly host: string
  readonly port: number
  /** The validator it claims to represent; a handshake has to prove it. */
  readonly validator: Hex | null
  /** The record as signed. */
  readonly bytes: Uint8Array
}

interface AddressBookOptions {
  /** Random text of this process: nobody else can tell which bucket is whose. */
  readonly secret: string
  isMember(validator: Hex): boolean
  isConnected(id: string): boolean
  /** Returns numbers from 0 to 1. */
  random(): number
  /** Called for a record that another one evicted. */
  evicted(id: string): void
}

/** Record with what is known about it beside its content. */
export interface BookEntry {
  readonly record: PeerRecord
  /** Network of the peer that told it. */
  readonly source: string
  /** This node was connected to it. */
  readonly isTried: boolean
}

/** Returns the network of an address: its /16, or its /32 of IPv6. */
export const networkOf = (address: string): string => {
  const subscriber = subscriberOf(address)
  return wideGroupsOf(subscriber)?.wide ?? subscriber
}

/**
 * Newest record of each node. As in Bitcoin's address manager, records not tried yet and those of nodes this one was connected to are in
 * tables of their own, cut into buckets: what one network tells reaches few of them, and evicts nothing elsewhere. Of each validator the
 * newest few count, and those of members are never evicted.
 */
export class AddressBook {
  readonly #options: AddressBookOptions
  readonly #entries = new Map<string, BookEntry & { readonly bucket: string }>()
  readonly #buckets = new Map<string, Set<string>>()
  readonly #hosts = new Map<string, Set<string>>()
  readonly #validators = new Map<Hex, Set<string>>()

  constructor(options: AddressBookOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get(id: string): PeerRecord | undefined {
    return this.#entries.get(id)?.record
  }

  isTried(id: string): boolean {
    return this.#entries.get(id)?.isTried ?? false
  }

  /** Returns true when a record of this node and sequence number is newer than the known one. */
  isNews(id: string, sequence: number): boolean {
    return (this.get(id)?.sequence ?? -1) < sequence
  }

  /**
   * Stores a record with a verified signature; `source`: network of the peer that told it. Returns false when there is no room for it.
   * `isAtHost`: the node itself told it, from the host that it names.
   */
  put(record: PeerRecord, source: string, isAtHost = false): boolean {
    const old = this.#entries.get(record.id)
    if (!this.#hasRoomAtHost(record, isAtHost) || !this.#hasRoomForValidator(record)) return false
    const isTried = old?.isTried === true && old.record.host === record.host
    // Only the network of the node itself moves its record: a stranger would move those of others to where its own crowd them out.
    const isOwn = old === undefined || source === networkOf(record.host)
    if (old !== undefined) this.remove(record.id)
    if (this.#add({ record, source: isOwn ? source : old.source, isTried })) return true
    if (old !== undefined) this.#options.evicted(record.id)
    return false
  }

  /** Marks a node as tried: a connection to it stood. */
  tried(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.isTried) return
    this.remove(id)
    if (!this.#add({ ...entry, isTried: true })) this.#add(entry)
  }

  remove(id: string): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    this.#entries.delete(id)
    const { record, bucket } = entry
    leave(this.#buckets, bucket, id)
    leave(this.#hosts, subscriberOf(record.host), id)
    if (record.validator !== null) leave(this.#validators, record.validator, id)
  }

  /** Returns up to `count` random records except that of `except`: of tried nodes first, up to half. */
  sample(count: number, except: string): readonly PeerRecord[] {
    const all = [...this.#entries.values()].filter(({ record }) => record.id !== except)
    const { random } = this.#options
    const known = all.filter(({ isTried }) => isTried)
    const tried = drawn(known, Math.ceil(count / 2), random)
    const chosen = new Set(tried)
    const left = all.filter(entry => !chosen.has(entry))
    const others = drawn(left, count - tried.length, random)
    return [...tried, ...others].map(({ record }) => record)
  }

  entries(): readonly BookEntry[] {
    return [...this.#entries.values()].map(({ record, source, isTried }) => ({ record, source, isTried }))
  }

  /** Where there are enough, a node that is there displaces one that was never reached: anyone can invent some at any host. */
  #hasRoomAtHost(record: PeerRecord, isAtHost: boolean): boolean {
    const { id, host } = record
    const there = this.#hosts.get(subscriberOf(host))
    // Records of loopback addresses are those of the operator's own nodes.
    if (this.#isPinned(record) || isLoopbackAddress(host) || there === undefined || there.has(id)) return true
    if (there.size < NETWORK_LIMITS.recordsPerHost) return true
    const displaced = isAtHost ? [...there].find(other => !this.isTried(other) && !this.#isKept(other)) : undefined
    if (displaced === undefined) return false
    this.#evict(displaced)
    return true
  }

  /** Removes the oldest record of the same validator where there are enough; false: the record is the oldest itself. */
  #hasRoomForValidator({ id, validator, sequence }: PeerRecord): boolean {
    const others = validator === null ? [] : [...(this.#validators.get(validator) ?? [])].filter(other => other !== id)
    if (others.length < NETWORK_LIMITS.recordsPerValidator) return true
    const [oldest] = others.toSorted((a, b) => (this.get(a)?.sequence ?? 0) - (this.get(b)?.sequence ?? 0))
    if (oldest === undefined || sequence < (this.get(oldest)?.sequence ?? 0)) return false
    this.#evict(oldest)
    return true
  }

  #evict(id: string): void {
    this.remove(id)
    this.#options.evicted(id)
  }

  #add(entry: BookEntry): boolean {
    const { record, isTried } = entry
    const { random } = this.#options
    const bucket = this.#bucketOf(entry)
    const inBucket = this.#buckets.get(bucket) ?? new Set()
    const loose = [...inBucket].filter(id => !this.#isKept(id))
    if (inBucket.size >= NETWORK_LIMITS.bucketRecords && !this.#isPinned(record)) {
      const evicted = loose[Math.min(loose.length - 1, Math.floor(random() * loose.length))]
      if (evicted === undefined) return false
      const former = this.#entries.get(evicted)
      this.remove(evicted)
      // A tried one gets another chance among the new.
      const isBack = isTried && former !== undefined && this.#add({ ...former, isTried: false })
      if (!isBack) this.#options.evicted(evicted)
    }
    this.#entries.set(record.id, { ...entry, bucket })
    enter(this.#buckets, bucket, record.id)
    enter(this.#hosts, subscriberOf(record.host), record.id)
    if (record.validator !== null) enter(this.#validators, record.validator, record.id)
    return true
  }

  #isKept(id: string): boolean {
    const record = this.get(id)
    return record !== undefined && (this.#isPinned(record) || this.#options.isConnected(id))
  }

  #isPinned({ validator }: PeerRecord): boolean {
    return validator !== null && this.#options.isMember(validator)
  }

  #bucketOf({ record, source, isTried }: BookEntry): string {
    const { newBuckets, triedBuckets, bucketsPerSource, bucketsPerNetwork } = NETWORK_LIMITS
    const network = networkOf(record.host)
    const [table, origin, buckets, reach, spread] = isTried
      ? ['tried', network, triedBuckets, bucketsPerNetwork, record.host]
      : ['new', source, newBuckets, bucketsPerSource, network]
    const which = this.#hash(table, origin, spread) % Number(reach)
    return `${table}/${this.#hash(table, origin, String(which)) % Number(buckets)}`
  }

  #hash(...parts: readonly (string | number)[]): number {
    const digest = sha256(Buffer.from([this.#options.secret, ...parts].join('|')))
    return new DataView(digest.buffer, digest.byteOffset).getUint32(0)
  }
}

const enter = <K>(sets: Map<K, Set<string>>, key: K, id: string): void =>
  void getOrMake(sets, key, () => new Set()).add(id)

const leave = <K>(sets: Map<K, Set<string>>, key: K, id: string): void => {
  const set = sets.get(key)
  set?.delete(id)
  if (set?.size === 0) sets.delete(key)
}
