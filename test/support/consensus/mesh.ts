import type { NetworkPort } from '../../../src/consensus/ports.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'

type Listener = (message: ConsensusMessage, from: string) => void

/** A network in one process that delivers in order, soon (or when `later` says), and only what `passes` lets through. */
export class Mesh {
  readonly #listeners = new Map<number, Listener>()
  passes: (from: number, to: number, message: ConsensusMessage) => boolean = () => true
  later: (deliver: () => void) => void = queueMicrotask
  /** Sees everything said, delivered or not. */
  onSaid: (from: number, message: ConsensusMessage) => void = () => {}
  /** Tells which validator a peer is; without it members sign from their start on. */
  speaker: NetworkPort['speaker']

  port(index: number): NetworkPort {
    const send = (to: number, message: ConsensusMessage) => {
      if (!this.passes(index, to, message)) return
      this.later(() => this.#listeners.get(to)?.(message, String(index)))
    }
    return {
      broadcast: message => {
        this.onSaid(index, message)
        for (const to of this.#listeners.keys()) if (to !== index) send(to, message)
      },
      send: (to, message) => {
        this.onSaid(index, message)
        send(Number(to), message)
      },
      onMessage: listener => {
        this.#listeners.set(index, listener)
        return () => this.#listeners.delete(index)
      },
      ...(this.speaker && { speaker: this.speaker }),
    }
  }
}
