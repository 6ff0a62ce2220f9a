import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { openContractFile, openContracts } from '@tandem/explorer/store/open-contracts.ts'
import { openIndex } from '@tandem/explorer/store/open-index.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { POSTGRES_MISSING, type PostgresServer, startPostgres } from '../../support/explorer/postgres-server.ts'
import { RandomBlocks } from './random-blocks.ts'
import { storedContract } from './stored-contract.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

describe.skipIf(POSTGRES_MISSING)(`PostgreSQL${POSTGRES_MISSING ? ` (${POSTGRES_MISSING})` : ''}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const [one, two] = [1, 2].map(digit => `0x${String(digit).repeat(40)}` as Hex) as [Hex, Hex]
  const opened = async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tandem-contracts-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const database = { kind: 'postgres', url: await server.database() } as const
    return { database, path: join(dir, 'contracts.sqlite'), index: await openIndex(database) }
  }

  test('verified contracts are shared by processes, and stay when the index is emptied', async () => {
    const { database, path, index } = await opened()
    const [first, second] = [await openContracts(database, path), await openContracts(database, path)]
    expect(await second.contract(one)).toBeUndefined()
    const contract = storedContract({ address: one, name: 'A', input: '{"text":"\\"\\\\ {}\\u0000\u00e9"}' })
    await first.writeContract(contract)
    expect(await second.contract(one)).toEqual(contract)
    await second.writeContract({ ...contract, name: 'B' })
    expect([await first.contractName(one), await first.contractCount()]).toEqual(['B', 1])
    await index.append(new RandomBlocks({ seed: 1 }).chain(3))
    await index.rollback(-1)
    expect(await first.contractCount()).toBe(1)
    await Promise.all([first.close(), second.close(), index.close()])
  })

  test('a contract is stored while a transaction takes in many blocks', async () => {
    const { database, path, index } = await opened()
    const contracts = await openContracts(database, path)
    const blocks = new RandomBlocks({ seed: 1 }).chain(6)
    async function* batches() {
      yield blocks.slice(0, 3)
      await contracts.writeContract(storedContract({ address: one, name: 'A' }))
      yield blocks.slice(3)
    }
    await index.appendAll(batches())
    expect((await index.position())?.number).toBe(5)
    expect(await contracts.contractName(one)).toBe('A')
    await Promise.all([contracts.close(), index.close()])
  })

  test('what was acknowledged, or taken over from a file, survives the end of the database at that moment', async () => {
    const { database, path, index } = await opened()
    const file = openContractFile(path)
    await file.writeContract(storedContract({ address: two, name: 'Two' }))
    await file.close()
    await index.close()
    const contracts = await openContracts(database, path)
    await server.kill()
    await contracts.close()
    await server.start()
    const again = await openContracts(database, path)
    expect(await again.contractName(two)).toBe('Two')
    await again.writeContract(storedContract({ address: one, name: 'One' }))
    await server.kill()
    await again.close()
    await server.start()
    const last = await openContracts(database, path)
    expect(await last.contractName(one)).toBe('One')
    await last.close()
  })

  test('contracts of an earlier file are taken over once, and replace none', async () => {
    const { database, path, index } = await opened()
    const file = openContractFile(path)
    await file.writeContract(storedContract({ address: one, name: 'Old' }))
    await file.writeContract(storedContract({ address: two, name: 'Two' }))
    await file.close()
    const elsewhere = await openContracts(database, `${path}.none`)
    await elsewhere.writeContract(storedContract({ address: one, name: 'New' }))
    const contracts = await openContracts(database, path)
    expect([await contracts.contractName(one), await contracts.contractName(two)]).toEqual(['New', 'Two'])
    expect([existsSync(path), existsSync(`${path}.moved`)]).toEqual([false, true])
    await Promise.all([elsewhere.close(), contracts.close(), index.close()])
  })
})
