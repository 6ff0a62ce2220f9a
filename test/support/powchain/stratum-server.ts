import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Hex } from '@tandem/base/bytes.ts'
import { type Clock, systemClock } from '@tandem/base/clock.ts'
import { type Logger, silentLogger } from '@tandem/base/logger.ts'
import { onTestFinished } from 'vitest'
import type { Argon2Provider } from '../../../src/crypto/argon2.ts'
import { argon2Provider } from '../../../src/crypto/argon2.ts'
import { MiningService } from '../../../src/powchain/mining/mining-service.ts'
import { type MainHead, ProofPool } from '../../../src/powchain/proof-pool.ts'
import type { MinerAdmission } from '../../../src/powchain/stratum/core/miner-admission.ts'
import { StratumServer } from '../../../src/powchain/stratum/stratum-server.ts'
import { createWorkVerifier } from '../../../src/powchain/work-verifier.ts'
import { proofHeaderId } from '../../../src/primitives/proof-header.ts'
import { extendProofState } from '../../../src/rules/proof/proof-header.ts'
import { CHAIN_ID } from '../chain.ts'
import { anchorHashOf, childOf, grow, paramsWithFork } from './headers.ts'

const EXTRA_NONCE = Uint8Array.of(1, 2, 3, 4)

/** The time is the test's own for rates and windows; timers run by the real one. */
class SteeredClock implements Clock {
  skippedMs = 0
  nowMs(): number {
    return systemClock.nowMs() + this.skippedMs
  }
  schedule(atMs: number, fn: () => void): () => void {
    return systemClock.schedule(atMs - this.skippedMs, fn)
  }
}

/** The shipped parts of a node that mines by Stratum, without its main chain: the test moves the head. */
export const startStratum = async (
  fork: number | null,
  hardness = 0,
  logger: Logger = silentLogger,
  admission?: MinerAdmission,
) => {
  const params = paramsWithFork(fork)
  const easy = { maxTargetBefore: params.proofChain.maxTargetBefore, maxTargetAfter: params.proofChain.maxTargetAfter }
  const rules = {
    ...params,
    proofChain: {
      ...params.proofChain,
      maxTargetBefore: easy.maxTargetBefore >> BigInt(hardness),
      maxTargetAfter: easy.maxTargetAfter >> BigInt(hardness),
    },
  }
  let state = grow(rules, 3)
  let head: MainHead = { number: state.tipAnchor + 5, hash: anchorHashOf(state.tipAnchor + 5), proofState: state }
  const argon2 = { calls: 0 }
  const provider = async (): Promise<Argon2Provider> => {
    const real = await argon2Provider()
    return {
      ...real,
      hash(...args) {
        argon2.calls++
        return real.hash(...args)
      },
    }
  }
  const verifier = createWorkVerifier(CHAIN_ID, provider)
  const clock = new SteeredClock()
  const pool = new ProofPool({ params: rules, head, hashOf: anchorHashOf, verifier })
  const parts = { params: { ...rules, chainId: CHAIN_ID }, pool, extraNonce: EXTRA_NONCE, clock, logger }
  const service = new MiningService({ ...parts, coinbase: null })
  const place = { host: '127.0.0.1', port: 0, ...(admission && { admission }) }
  const server = new StratumServer({ ...parts, service, verifier, ...place })
  service.workers = server
  const stops = [pool.onAdded(() => server.refresh()), pool.onReset(() => server.refresh())]
  const port = await server.listen()
  onTestFinished(async () => {
    for (const stop of stops) stop()
    await server.close()
  })
  const moveTo = (next: MainHead) => {
    head = next
    pool.onBlock(head, clock.nowMs())
    server.refresh()
  }
  return {
    server,
    service,
    pool,
    clock,
    argon2,
    port,
    /** So many main blocks without a proof header. */
    advance: (blocks: number) =>
      moveTo({ number: head.number + blocks, hash: anchorHashOf(head.number + blocks), proofState: state }),
    /** The head is replaced by a block with this hash. */
    replaceHead(hash: Hex) {
      head = { ...head, hash }
      pool.reset(head)
    },
    /** The same head after blocks above it were taken back. */
    revert: () => pool.reset({ ...head }),
    /** A main block that makes another miner's header final. */
    otherHeader() {
      const header = childOf(rules, state, head.number)
      state = extendProofState(rules, state, header, proofHeaderId(header))
      moveTo({ number: head.number + 1, hash: anchorHashOf(head.number + 1), proofState: state })
    },
  }
}

export interface StratumMessage {
  readonly id?: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
  readonly error?: unknown
}

/** A miner's connection as a client program sees it. */
export class StratumClient {
  readonly socket: Socket
  readonly messages: StratumMessage[] = []
  readonly closed: Promise<void>
  #wake = Promise.withResolvers<void>()
  #nextId = 1

  constructor(port: number, from = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from })
    this.socket.on('error', () => {})
    this.closed = new Promise(resolve => {
      this.socket.once('close', () => {
        this.#wake.resolve()
        resolve()
      })
    })
    const lines = createInterface({ input: this.socket })
    lines.on('error', () => {})
    lines.on('line', line => {
      this.messages.push(JSON.parse(line) as StratumMessage)
      this.#wake.resolve()
      this.#wake = Promise.withResolvers()
    })
    onTestFinished(() => void this.socket.destroy())
  }

  /** Waits for the first message of this kind from one on; fails when the connection closes before. */
  async next(wanted: (message: StratumMessage) => boolean, from = 0): Promise<StratumMessage> {
    for (;;) {
      const found = this.messages.slice(from).find(wanted)
      if (found !== undefined) return found
      if (this.socket.destroyed) throw new Error(`closed after ${JSON.stringify(this.messages)}`)
      await this.#wake.promise
    }
  }

  write(line: string): void {
    this.socket.write(`${line}\n`)
  }

  /** Sends a request and waits for its answer. */
  ask(method: string, params: readonly unknown[] = [], more: object = {}): Promise<StratumMessage> {
    const id = this.#nextId++
    this.write(JSON.stringify({ id, method, params, ...more }))
    return this.next(message => message.id === id && message.method === undefined)
  }

  /** Waits for a job that came after so many messages. */
  notified(from = 0): Promise<StratumMessage> {
    return this.next(({ method }) => method === 'mining.notify', from)
  }
}
