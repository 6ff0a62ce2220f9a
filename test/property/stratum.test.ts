import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STRATUM_LIMITS } from '../../src/config/limits/stratum.ts'
import type { MiningJob } from '../../src/powchain/mining/mining-service.ts'
import { type StratumPort, StratumSession } from '../../src/powchain/stratum/stratum-session.ts'
import { proofSealHash } from '../../src/primitives/proof-header.ts'
import { firstProofState } from '../../src/rules/proof/proof-header.ts'
import { CHAIN_ID } from '../support/chain.ts'
import { childOf, MINER, paramsWithFork } from '../support/powchain/headers.ts'
import { StratumClient, type StratumMessage, startStratum } from '../support/powchain/stratum-server.ts'
import { SEED } from '../support/seed.ts'

const METHODS = [
  'mining.subscribe',
  'mining.authorize',
  'mining.submit',
  'mining.extranonce.subscribe',
  'mining.suggest_difficulty',
  'eth_submitLogin',
  'eth_getWork',
  'eth_submitWork',
  'eth_submitHashrate',
  'toString',
  '__proto__',
]

/** One job whose target no hash meets by chance. */
const jobOf = (fork: number): MiningJob => {
  const params = paramsWithFork(fork)
  const template = { ...childOf(params, firstProofState(params), 5), target: 2n ** 190n }
  return { template, sealHash: proofSealHash(CHAIN_ID, template) }
}

const hex = fc
  .tuple(fc.boolean(), fc.integer({ min: 0, max: 70 }))
  .map(([isPrefixed, digits]) => (isPrefixed ? '0x' : '') + 'a'.repeat(digits))
const paramFor = (job: MiningJob) =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(MINER, `${MINER}.rig`, '1', '2', '0', job.sealHash, 'EthereumStratum/1.0.0'),
    },
    { weight: 3, arbitrary: hex },
    { weight: 2, arbitrary: fc.constantFrom('000000000001', '0001', '00000000', '00000001', '0x0000000000000001') },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.constantFrom({ toString: 1 }, [[[]]], 1e308, -0, '\u0000', '𝕏'.repeat(50)) },
  )
const requestLine = (method: string, ...params: readonly unknown[]) => JSON.stringify({ id: 1, method, params })

/** Well-formed shares, of a few nonces so that some come twice. */
const shareFor = (job: MiningJob) =>
  fc.tuple(fc.nat(60), fc.constantFrom('1', '2', '3', job.sealHash), fc.boolean()).map(([value, id, hasMix]) => {
    const digits = value.toString(16).padStart(12, '0')
    const mix = hasMix ? ['ab'.repeat(32)] : []
    if (id === job.sealHash) return requestLine('eth_submitWork', `0x0001${digits}`, id, ...mix)
    if (value % 2 === 0) return requestLine('mining.submit', MINER, id, digits, ...mix)
    return requestLine('mining.submit', MINER, id, digits.slice(0, 4), '00000000', digits.slice(4), ...mix)
  })

const login = fc.constantFrom<readonly string[]>(
  [],
  [requestLine('mining.subscribe', 'a', 'EthereumStratum/1.0.0'), requestLine('mining.authorize', MINER)],
  [requestLine('mining.subscribe', 'a'), requestLine('mining.authorize', MINER)],
  [requestLine('eth_submitLogin', MINER)],
)

const lineFor = (job: MiningJob) =>
  fc.oneof(
    { weight: 6, arbitrary: shareFor(job) },
    {
      weight: 8,
      arbitrary: fc
        .record({
          id: fc.oneof(
            fc.integer({ min: 1 }),
            fc.string(),
            fc.jsonValue({ maxDepth: 1 }).filter(id => id !== 0),
          ),
          method: fc.oneof(
            { weight: 9, arbitrary: fc.constantFrom(...METHODS) },
            { weight: 1, arbitrary: fc.jsonValue() },
          ),
          params: fc.oneof(
            { weight: 9, arbitrary: fc.array(paramFor(job), { maxLength: 7 }) },
            { weight: 1, arbitrary: fc.jsonValue() },
          ),
        })
        .map(request => JSON.stringify(request)),
    },
    { weight: 1, arbitrary: fc.string() },
    { weight: 1, arbitrary: fc.json() },
  )

/** Sends the lines to a session in virtual time; answers the messages and how often the expensive hash was asked for. */
const play = async (fork: number, lines: readonly string[], msPerLine: number) => {
  const job = jobOf(fork)
  const messages: StratumMessage[] = []
  let nowMs = 1_000_000
  let hashes = 0
  let accepted = 0
  const port: StratumPort = {
    nowMs: () => nowMs,
    send: message => messages.push(message as StratumMessage),
    fault: weight => expect(weight).toBeGreaterThanOrEqual(0),
    nextJob: () => job,
    isAnchored: () => true,
    oldestAnchor: () => 0,
    async mixHash() {
      hashes++
      return new Uint8Array(32).fill(255)
    },
    record: (_, outcome) => {
      if (outcome === 'accepted') accepted++
    },
    solved: async () => expect.unreachable('no hash meets the target'),
    joined: () => {},
  }
  const session = new StratumSession(port, 'id', Uint8Array.of(0, 1))
  for (const line of lines) {
    session.receive(line)
    session.refresh()
    session.review()
    nowMs += msPerLine
  }
  await new Promise(setImmediate)
  // Work that the getwork dialect pushes has the id 0, which no request here has.
  const pushes = messages.filter(({ id, method, result }) => id === 0 && method === undefined && Array.isArray(result))
  const answers = messages.filter(({ method }) => method === undefined).length - pushes.length
  return { messages, answers, hashes, accepted, elapsedMs: nowMs - 1_000_000 }
}

test.each([20, 0])('each line gets one answer and junk earns nothing, whatever the lines are; fork %d', async fork => {
  const job = jobOf(fork)
  let hashed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(login, fc.array(lineFor(job), { maxLength: 120 })).map(([first, rest]) => [...first, ...rest]),
      fc.constantFrom(0, 5, 1_000),
      async (lines, msPerLine) => {
        const { messages, answers, hashes, accepted, elapsedMs } = await play(fork, lines, msPerLine)
        expect(answers).toBe(lines.length)
        const { burst, perSecond } = STRATUM_LIMITS.shares[2]
        expect(hashes).toBeLessThanOrEqual(fork === 0 ? burst + (elapsedMs / 1_000) * perSecond : 0)
        expect(accepted).toBe(0)
        hashed += hashes
        // Every message is one line of JSON.
        for (const message of messages) expect(JSON.stringify(message)).not.toContain('\n')
      },
    ),
    { seed: SEED, numRuns: 300 },
  )
  expect(hashed > 0, 'some lines come as far as the expensive hash').toBe(fork === 0)
})

test('a server takes random bytes in random pieces, and serves the next miner', async () => {
  const { port } = await startStratum(20)
  const job = jobOf(20)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          lineFor(job).map(line => `${line}\n`),
          fc.string({ unit: 'binary' }),
        ),
        { maxLength: 30 },
      ),
      fc.nat(40),
      async (parts, piece) => {
        const client = new StratumClient(port)
        const bytes = Buffer.from(parts.join(''))
        for (let at = 0; at < bytes.byteLength; at += piece + 20)
          client.socket.write(bytes.subarray(at, at + piece + 20))
        client.socket.end()
        await client.closed
      },
    ),
    { seed: SEED, numRuns: 40 },
  )
  const honest = new StratumClient(port)
  expect((await honest.ask('eth_submitLogin', [MINER])).result).toBe(true)
})
