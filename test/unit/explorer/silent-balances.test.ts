import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { ACCOUNTS } from '../../support/chain.ts'
import { senderOn, transferData } from '../../support/explorer/token-chain.ts'
import { withPages } from './page-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

/* Tokens whose events do not tell every change of a balance. */

const [, BOB, CAROL] = ACCOUNTS as readonly [Hex, Hex, Hex]
const DEPOSIT = hexToBytes('0xd0e30db0')
const withdrawal = (amount: bigint): Uint8Array => concatBytes(hexToBytes('0x2e1a7d4d'), hexToBytes(toWord(amount)))

test('a wrapped native token has the balances, holders and supply of its contract', () =>
  withPages(async ({ chain, get, page, mine }) => {
    const carol = senderOn(chain, 2)
    const token = await carol.deploy('Wrapped')
    await carol.submit({ to: token, data: DEPOSIT, value: 1_000n })
    await carol.submit({ to: token, data: transferData(BOB, 300n) })
    await carol.submit({ to: token, data: withdrawal(100n) })
    await mine()
    const module = async (query: string) =>
      ((await get(`/api?module=${query}&contractaddress=${token}`)).body as { readonly result: string }).result
    expect(await module(`account&action=tokenbalance&address=${CAROL}`)).toBe('600')
    expect(await module(`account&action=tokenbalance&address=${BOB}`)).toBe('300')
    expect(await module('stats&action=tokensupply')).toBe('900')
    const { body } = await get(`/api/tokens/${token}`)
    expect(body).toMatchObject({
      ...{ totalSupply: '900', holderCount: 2 },
      holders: {
        items: [
          { address: checksumAddress(BOB), balance: '300', percent: 33.33 },
          { address: checksumAddress(CAROL), balance: '600', percent: 66.67 },
        ],
      },
    })
    expect((await get('/api/tokens')).body).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ totalSupply: '900' })]),
    })
    const held = [{ token: { address: checksumAddress(token) }, balance: '600' }]
    expect((await get(`/api/addresses/${CAROL}`)).body).toMatchObject({ tokenBalances: held })
    expect((await page(`/explorer/token/${token}?tab=holders`)).text).not.toMatch(/>-\d/)
  }))

test('a balance that neither events nor the contract tell is unknown', () =>
  withPages(async ({ chain, get, page, mine }) => {
    const carol = senderOn(chain, 2)
    const token = await carol.deploy('Hostile')
    await carol.submit({ to: token, data: transferData(BOB, 5n) })
    await mine()
    const { body } = await get(`/api/tokens/${token}`)
    const balances = (body as { holders: { items: { balance: string | null }[] } }).holders.items
    expect(balances.map(({ balance }) => balance)).toEqual(['5', null])
    const query = `module=account&action=tokenbalance&address=${CAROL}&contractaddress=${token}`
    expect((await get(`/api?${query}`)).body).toMatchObject({ status: '0', result: expect.stringContaining('unknown') })
    expect((await page(`/explorer/token/${token}?tab=holders`)).text).toContain('unknown')
    expect((await page(`/explorer/address/${CAROL}?tab=tokens`)).text).toContain('unknown')
  }))
