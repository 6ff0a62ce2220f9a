import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { CALL_LIMITS } from '../../../../src/config/limits/clients.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import type { SerializedEnv } from '../../../../src/evm/block-env.ts'
import { createCallService } from '../../../../src/evm/calls/call-service.ts'
import type { CallRequest } from '../../../../src/evm/calls/types.ts'
import { TestWorld } from '../../state/world.ts'
import { temporaryDirectory } from '../../storage/temp-store.ts'
import { code, env, key, TOKEN } from '../world.ts'

/*
 * Calls that write as many words as their gas pays for. The words lie outside of frames, and in the interpreter on the heap of the worker:
 * if it ran out of memory, it would end with all calls that share it.
 */

const caller = key(1)
const WRITER: Hex = `0x${'05'.repeat(20)}`
/** PUSH0; JUMPDEST; TSTORE(n, n); n + 1; again: 124 gas a word. */
const TRANSIENT = code(0x5f, 0x5b, 0x80, 0x80, 0x5d, 0x60, '01', 0x01, 0x60, '01', 0x56)

const setUp = async () => {
  const path = await temporaryDirectory()
  const world = await TestWorld.open(path)
  const journal = world.world.journal()
  journal.setBalance(caller.address, TOKEN)
  journal.endTransaction()
  await world.commit(journal)
  const { params: _, blockHash, ...rest } = env({ number: world.world.number })
  const only: SerializedEnv = { ...rest, hash: blockHash(rest.number), parentHash: blockHash(rest.number - 1) }
  /** Workers that ended by themselves; one that is stopped for its time, as on a slow machine, is none of them. */
  const died: object[] = []
  const service = createCallService({
    store: world.store,
    params: NETWORKS.devnet,
    engine: 'wasm',
    logger: {
      ...silentLogger,
      warn: fields => void ((fields as { reason?: string }).reason !== 'EXECUTION_TIMEOUT' && died.push(fields)),
    },
    envFor: async () => only,
  })
  onTestFinished(async () => {
    await service.close()
    await world.close()
  })
  const request = (overrides: CallRequest['overrides'] = {}): CallRequest => ({
    message: { from: caller.address, to: WRITER, value: 0n, data: EMPTY_BYTES },
    number: world.world.number,
    overrides: { [WRITER]: { code: TRANSIENT }, ...overrides },
  })
  return { service, request, died }
}

/** How a call ended. */
const endOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    error => (isCoded(error) ? JSON.stringify(error.detail) : String(error)),
  )

const ENDS = [
  'answered',
  JSON.stringify({ code: 'EXECUTION_FAILED', reason: 'out of gas' }),
  JSON.stringify({ code: 'EXECUTION_FAILED', reason: 'out of memory' }),
  JSON.stringify({ code: 'EXECUTION_TIMEOUT', timeoutMs: CALL_LIMITS.timeoutMs }),
]

/** In WebAssembly, and in the interpreter. */
const WAYS = {
  eth_call: ({ service, request }) => service.call(request(), 'client'),
  eth_createAccessList: ({ service, request }) => service.createAccessList(request(), 'client'),
} satisfies Record<string, (parts: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>>

test.each(Object.entries(WAYS))(
  '%s: all the words that the gas pays for, several calls at once, do not end the worker',
  async (_name, way) => {
    const parts = await setUp()
    const ends = await Promise.all(Array.from({ length: 2 }, () => endOf(way(parts))))
    for (const end of ends) expect(ENDS).toContain(end)
    expect(parts.died).toEqual([])
    const after = parts.request({ [WRITER]: { code: code(0x00) } })
    expect(await endOf(parts.service.call(after, 'client'))).toBe('answered')
  },
  60_000,
)
