import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { ACCOUNTS } from '../../support/chain.ts'
import { senderOn, transferData } from '../../support/explorer/token-chain.ts'
import { type ApiRig, withApi } from './api-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

const [ALICE, BOB, CAROL] = ACCOUNTS as readonly [Hex, Hex, Hex]
/** Creation of a contract that writes as many logs without topics as the first word of its calldata says. */
const LOGGER = hexToBytes('0x60118060095f395ff35f355b6020355fa0600190038060025700')

interface LogRow {
  readonly blockNumber: string
  readonly logIndex: string
  readonly gasPrice: string
  readonly gasUsed: string
  readonly transactionHash: string
}

const logsBy =
  ({ get }: ApiRig) =>
  async (query: string): Promise<readonly LogRow[]> =>
    ((await get(`/api?module=logs&action=getLogs${query}`)).body as { readonly result: readonly LogRow[] }).result

const word = (address: Hex): Hex => toWord(BigInt(address)) as Hex

test('topics are joined by their operators, from left to right', () =>
  withApi(async rig => {
    const logs = logsBy(rig)
    const carol = senderOn(rig.chain, 2)
    await carol.submit({ to: rig.coin, data: transferData(BOB, 0n) })
    await carol.submit({ to: rig.coin, data: transferData(ALICE, 0n) })
    await rig.mine()
    const at = `&address=${rig.coin}`
    // A minting to Alice, Alice to Bob, Carol to Bob, Carol to Alice.
    expect(await logs(at)).toHaveLength(4)
    const [fromAlice, fromCarol] = [`&topic1=${word(ALICE)}`, `&topic1=${word(CAROL)}`]
    const [toAlice, toBob] = [`&topic2=${word(ALICE)}`, `&topic2=${word(BOB)}`]
    expect(await logs(at + fromCarol + toBob)).toHaveLength(1)
    expect(await logs(`${at}${fromCarol}${toBob}&topic1_2_opr=and`)).toHaveLength(1)
    expect(await logs(`${at}${fromCarol}${toBob}&topic1_2_opr=or`)).toHaveLength(3)
    expect(await logs(`${at}${fromAlice}${toAlice}&topic1_2_opr=or`)).toHaveLength(3)
    const transfer = '&topic0=0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    expect(await logs(`${at}${transfer}${fromCarol}${toBob}&topic0_1_opr=and&topic1_2_opr=or`)).toHaveLength(3)
    expect(await logs(`${at}&topic0=${toWord(1n)}${toBob}&topic0_2_opr=or`)).toHaveLength(2)
    const indexes = (await logs(`${at}${fromAlice}${toAlice}&topic1_2_opr=or`)).map(row => Number(row.blockNumber))
    expect(indexes).toEqual(indexes.toSorted((a, b) => a - b))
    expect((await rig.get(`/api?module=logs&action=getLogs${at}${toBob}&topic1_2_opr=xor${fromAlice}`)).body).toEqual({
      ...{ status: '0', message: 'NOTOK', result: 'Error! Invalid topic1_2_opr' },
    })
  }))

test('latest is the head, where a range begins too, and rows have the gas of their transaction', () =>
  withApi(async rig => {
    const logs = logsBy(rig)
    const at = `&address=${rig.coin}`
    const head = rig.chain.chain.headBlock.header.number
    const [row] = await logs(`${at}&fromBlock=latest&toBlock=latest`)
    expect(Number(row?.blockNumber)).toBe(head)
    const receipt = (await rig.chain.blocks.receipts(head))?.[0]
    expect([row?.gasPrice, row?.gasUsed]).toEqual([
      `0x${receipt?.effectiveGasPrice.toString(16)}`,
      `0x${receipt?.gasUsed.toString(16)}`,
    ])
    await rig.mine()
    expect(await logs(`${at}&fromBlock=latest`)).toEqual([])
    const list = (await rig.get(`/api?module=account&action=txlist&address=${ALICE}&startblock=latest`)).body
    expect(list).toMatchObject({ status: '0', result: [] })
  }))

test('every log of a full block is reached by pages', () =>
  withApi(async rig => {
    const logs = logsBy(rig)
    const carol = senderOn(rig.chain, 2)
    const logger = await carol.deployCode(LOGGER)
    const data = concatBytes(hexToBytes(toWord(1_500n)), hexToBytes(toWord(0n)))
    for (let block = 0; block < 2; block++) {
      await carol.submit({ to: logger, data, gasLimit: 25_000_000n })
      await rig.mine()
    }
    const at = `&address=${logger}`
    const pages = await Promise.all([1, 2, 3, 4].map(page => logs(`${at}&page=${page}&offset=1000`)))
    expect(pages.map(page => page.length)).toEqual([1_000, 1_000, 1_000, 0])
    const all = pages.flat().map(row => `${row.blockNumber} ${row.logIndex}`)
    expect(new Set(all).size).toBe(3_000)
    expect(await logs(`${at}&page=6&offset=300`)).toHaveLength(300)
    // A page that is beyond every result, and one that would be cut: a short page is taken for the last one.
    for (const refused of ['page=11&offset=1000', 'offset=1001'])
      expect((await rig.get(`/api?module=logs&action=getLogs${at}&${refused}`)).body).toMatchObject({
        result: expect.stringContaining('Result window is too large'),
      })
    expect(await logs(`${at}&page=3&offset=1400`)).toHaveLength(200)
  }))

test('txlist has the whole input and the cumulative gas of the receipt', () =>
  withApi(async ({ chain, get, coin }) => {
    const { body } = await get(`/api?module=account&action=txlist&address=${ALICE}&sort=asc`)
    const { result } = body as { readonly result: readonly Record<string, string>[] }
    const number = chain.chain.headBlock.header.number
    const receipts = (await chain.blocks.receipts(number)) ?? []
    const inHead = result.filter(({ blockNumber }) => blockNumber === String(number))
    expect(inHead.map(row => row['cumulativeGasUsed'])).toEqual(receipts.map(row => row.cumulativeGasUsed.toString()))
    const transfer = result.find(({ to }) => to === coin)
    expect(transfer?.['input']).toBe(`0x${Buffer.from(transferData(BOB, 250n)).toString('hex')}`)
    expect(transfer?.['methodId']).toBe('0xa9059cbb')
  }))
