import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainDomain } from '../../../src/network/proofs.ts'
import type { Hello } from '../../../src/network/wire/control.ts'
import type { Random } from '../../../src/sim/random.ts'
import { RawPeer } from '../network/raw-peer.ts'

/** Whom it is about. */
export interface Target {
  readonly port: number
  readonly domain: ChainDomain
}

export interface Scene {
  readonly target: Target
  readonly random: Random
  readonly signal: AbortSignal
}

/** What one hostile peer does again and again as long as it is let; `round` counts from 0 with each connection. */
export type Act = (peer: RawPeer, round: number) => Promise<void> | void

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
  { target, random, signal }: Scene,
  peers: number,
  act: Act,
  hello: Partial<Hello> = {},
): Promise<Counts> => {
  const counts: Counts = { connected: 0, refused: 0, closed: 0 }
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const peer = await meet(target, random, hello)
      if (peer === undefined) {
        counts.refused++
        await sleep(RETRY_MS)
        continue
      }
      counts.connected++
      for (let round = 0; !signal.aborted && !peer.isClosed; round++) await act(peer, round)
      if (peer.isClosed) counts.closed++
      peer.close()
      // What it said is to be read before it is somebody else.
      await sleep(RETRY_MS)
    }
  }
  await Promise.all(Array.from({ length: peers }, lane))
  return counts
}

const meet = async ({ port, domain }: Target, random: Random, hello: Partial<Hello>): Promise<RawPeer | undefined> => {
  try {
    return await RawPeer.meet(port, hello, null, { domain, from: otherAddress(random), keeps: false })
  } catch {
    return undefined
  }
}

/** Writes as fast as the other side reads. */
export const pour = async (peer: RawPeer, bytes: Uint8Array): Promise<void> => {
  const { socket } = peer
  // Whatever became of it, others get their turn.
  if (socket.destroyed || socket.write(bytes)) return sleep(0)
  await new Promise<void>(resolve => {
    const done = (): void => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
