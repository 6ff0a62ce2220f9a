import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createRefusalLog } from '../../../src/node/dev/terminal-log.ts'
import { CODES, RpcError } from '../../../src/rpc/errors.ts'

test('refusals from which clients simply go on are not shown', () => {
  const shown: object[] = []
  const logger = { ...silentLogger, info: (fields: object) => void shown.push(fields) }
  const refused = createRefusalLog(logger, { nowMs: () => 0 })
  const noWork = new RpcError(CODES.server, 'no mining work available yet')
  const unknown = new RpcError(CODES.methodNotFound, 'the method does not exist/is not available')
  for (let times = 0; times < 100; times++) refused('native_getWork', noWork)
  refused('eth_fillTransaction', new RpcError(CODES.reverted, 'execution reverted'))
  expect(shown).toEqual([])
  refused('eth_fillTransaction', unknown)
  refused('native_getWork', new RpcError(CODES.invalidParams, 'invalid argument 1: hex string of odd length'))
  expect(shown).toMatchObject([
    { method: 'eth_fillTransaction', code: CODES.methodNotFound },
    { method: 'native_getWork', code: CODES.invalidParams },
  ])
})
