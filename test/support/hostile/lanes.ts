import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { ChainDomain, Hello } from '../../../src/network/messages/control-messages.ts'
import type { ValidatorSigner } from '../../../src/primitives/consensus/vote.ts'
import { RawPeer } from '../network/raw-peer.ts'
import type { ByzantineMember } from './byzantine-member.ts'

/** Whom it is about. */
interface Target {
  readonly port: number
  readonly domain: ChainDomain
}

export interface Scene {
  readonly target: Target
  readonly random: Random
  readonly signal: AbortSignal
  /** A council key in hostile hands, and the nodes it is used against. */
  readonly member?: HostileKey
}

export interface HostileKey {
  readonly byzantine: ByzantineMember
  readonly ports: readonly number[]
  /** Head of the chain, as last seen. */
  head(): { readonly number: number; readonly hash: Hex }
}

/** Action that one hostile peer repeats while it is connected; `round` counts from 0 with each connection. */
type Act = (peer: RawPeer, round: number) => Promise<void> | void

export interface Counts {
  connected: number
  refused: number
  closed: number
}

/** Pause of a peer that was thrown out: what the test itself does to come back must not be what stands still. */
export const RETRY_MS = 250

/** An address of the loopback other than the one honest nodes share: places and quotas of one are not those of another. */
export const otherAddress = (random: Random): string =>
  `127.${1 + random.below(200)}.${random.below(256)}.${1 + random.below(250)}`

/** So many hostile peers at once; one that is thrown out comes back as somebody else from elsewhere, until the signal. */
export const assault = async (
  { target, random, signal }: Pick<Scene, 'target' | 'random' | 'signal'>,
  peers: number,
  act: Act,
  hello: Partial<Hello> = {},
  signer: ValidatorSigner | null = null,
): Promise<Counts> => {
  const counts: Counts = { connected: 0, refused: 0, closed: 0 }
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const peer = await meet(target, random, hello, signer)
      if (peer === undefined) {
        counts.refused++
        await sleep(RETRY_MS)
        continue
      }
      counts.connected++
      for (let round = 0; !signal.aborted && !peer.isClosed; round++) await act(peer, round)
      if (peer.isClosed) counts.closed++
      peer.close()
      // Time for the node to read the last bytes, before the next connection with another key.
      await sleep(RETRY_MS)
    }
  }
  await Promise.all(Array.from({ length: peers }, lane))
  return counts
}

/** The same with a council key, against all nodes it is used against: so many peers each, under another node id each time. */
export const betray = async (scene: Scene, peers: number, act: (key: HostileKey) => Act): Promise<Counts> => {
  const { member, target } = scene
  if (member === undefined) throw new Error('this attack needs a council key')
  const all = await Promise.all(
    member.ports.map(port =>
      assault({ ...scene, target: { ...target, port } }, peers, act(member), {}, member.byzantine.signer),
    ),
  )
  const sum = (name: keyof Counts): number => all.reduce((total, counts) => total + counts[name], 0)
  return { connected: sum('connected'), refused: sum('refused'), closed: sum('closed') }
}

const meet = async (
  { port, domain }: Target,
  random: Random,
  hello: Partial<Hello>,
  signer: ValidatorSigner | null,
): Promise<RawPeer | undefined> => {
  try {
    return await RawPeer.meet(port, hello, signer, { domain, from: otherAddress(random), keeps: false })
  } catch {
    return undefined
  }
}

/** Writes as fast as the other side reads. */
export const pour = async (peer: RawPeer, bytes: Uint8Array): Promise<void> => {
  const { socket } = peer
  // Whatever became of it, others get their turn.
  peer.write(bytes)
  if (socket.destroyed || !socket.writableNeedDrain) return sleep(0)
  await new Promise<void>(resolve => {
    const done = (): void => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
