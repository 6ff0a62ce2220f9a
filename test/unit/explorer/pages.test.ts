import { gunzipSync } from 'node:zlib'
import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { Readiness } from '@tandem/explorer/api/readiness.ts'
import type { PageContext } from '@tandem/explorer/pages/page-route.ts'
import { PAGE_ROUTES } from '@tandem/explorer/pages/page-routes.ts'
import { createPageServer } from '@tandem/explorer/pages/page-server.ts'
import type { InternalRow, TokenRow } from '@tandem/explorer/store/sql/rows.ts'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { attackerText } from '../../support/attacker-text.ts'
import { ACCOUNTS } from '../../support/chain.ts'
import { revertWith } from '../../support/explorer/failing-contract.ts'
import { SEED } from '../../support/seed.ts'
import { indexWith, PAGE_SITE, type PageRig, withPages } from './page-rig.ts'

vi.setConfig({ testTimeout: 120_000 })

const [ALICE, BOB] = ACCOUNTS as readonly [Hex, Hex]

/** Addresses of every page that answer 200. */
const goodPages = ({ coin, hashes }: PageRig): Readonly<Record<string, readonly string[]>> => ({
  '': [''],
  '/blocks': ['/blocks', '/blocks?cursor='],
  '/block/:id': ['/block/0', '/block/1', '/block/2?tab=transactions', '/block/2?tab=consensus', '/block/1?tab=nothing'],
  '/txs': ['/txs', '/txs?kind=token', '/txs?kind=nothing'],
  '/tx/:hash': hashes.flatMap(hash => [`/tx/${hash}`, `/tx/${hash}?tab=logs`, `/tx/${hash}?tab=calls`]),
  '/address/:address': [ALICE, BOB, coin, `0x${'12'.repeat(20)}`].flatMap(address =>
    ['', '?tab=transfers', '?tab=tokens', '?tab=contract', '?tab=read', '?tab=write'].map(
      tab => `/address/${address}${tab}`,
    ),
  ),
  '/accounts': ['/accounts'],
  '/tokens': ['/tokens'],
  '/token/:address': [`/token/${coin}`, `/token/${checksumAddress(coin)}?tab=holders`, `/token/${coin}?tab=contract`],
  '/search': ['/search?q=e', '/search?q=nothing', '/search?q=', '/search', "/search?q=';--%25"],
  '/validators': ['/validators'],
  '/mining': ['/mining'],
  '/supply': ['/supply'],
  '/stats': ['/stats', '/stats?days=365', '/stats?days=x'],
  '/gas': ['/gas'],
  '/network': ['/network'],
  '/verify': ['/verify', `/verify?address=${coin}`],
  // A submission has its page only until the node ends (contract-pages.test.ts).
  '/verify/:job': [],
  ...Object.fromEntries(csvPaths(coin).map(([route]) => [route, []])),
  '/api': ['/api'],
})

const internalRow: InternalRow = {
  kind: 'call',
  from: ALICE,
  to: BOB,
  value: 1_500_000_000_000_000_000n,
  transactionHash: `0x${'12'.repeat(32)}`,
  blockNumber: 1,
  timestamp: 1,
  transactionIndex: 0,
  position: 0,
}

/** Lists as files, by the path of their route. */
const csvPaths = (coin: Hex): readonly (readonly [string, string])[] =>
  PAGE_ROUTES.filter(({ path }) => path.startsWith('/csv/')).map(({ path }) => [
    path,
    path.replace(':address', path.startsWith('/csv/token/') ? coin : ALICE),
  ])

const EXECUTABLE = /<script(?! src="\/(?:explorer\/)?assets\/)|<style|\sstyle=|\son[a-z]+=|javascript:/i

describe('pages', () => {
  test('every page answers, with nothing in it that its policy forbids', () =>
    withPages(async rig => {
      const good = goodPages(rig)
      expect(Object.keys(good)).toEqual(PAGE_ROUTES.map(({ path }) => path))
      for (const path of Object.values(good).flat()) {
        const { status, text, headers } = await rig.page(`/explorer${path}`)
        expect([path, status]).toEqual([path, 200])
        expect(headers['content-type']).toBe('text/html; charset=utf-8')
        expect(headers['content-security-policy']).toContain("script-src 'self'")
        expect(text).toMatch(/^<!doctype html>\n<html lang="en">[\s\S]*<\/html>\n$/)
        expect(text.match(/<h1>/g), path).toHaveLength(1)
        expect(EXECUTABLE.exec(text.replaceAll("';--", '')), path).toBeNull()
      }
    }))

  test('say what happened', () =>
    withPages(async ({ page, hashes, coin, context }) => {
      const [creation, transfer, plain, failed] = hashes as readonly [Hex, Hex, Hex, Hex]
      expect((await page(`/explorer/tx/${creation}`)).text).toContain('New contract')
      const moved = await page(`/explorer/tx/${transfer}`)
      expect(moved.text).toContain('transfer(address,uint256)')
      expect(moved.text).toContain('0.00025')
      expect((await page(`/explorer/tx/${transfer}?tab=logs`)).text).toContain('Transfer(address,address,uint256)')
      expect((await page(`/explorer/tx/${plain}`)).text).toContain('0.000000000000000007 dTNDM')
      expect((await page(`/explorer/tx/${failed}`)).text).toContain('The transaction failed')
      const consensus = (await page('/explorer/block/2?tab=consensus')).text
      expect(consensus).toContain('1 of 1')
      expect(consensus).toContain('>signed<')
      const token = (await page(`/explorer/token/${coin}?tab=holders`)).text
      expect(token).toContain('Green Bean')
      expect(token).toContain('999.99975')
      expect((await page(`/explorer/address/${BOB}`)).text).toContain('Bob Exchange')
      const proposer = (await context.index.block(2))?.proposer as Hex
      const proposed = (await page(`/explorer/address/${proposer}?tab=blocks`)).text
      expect(proposed).toContain('Proposed blocks')
      expect(proposed).toContain('<a href="/explorer/block/2">2</a>')
      expect((await page(`/explorer/address/${proposer}?tab=blocks&role=miner`)).text).toContain('No such blocks.')
      const index = indexWith(context.index, {
        internalTransfers: async () => ({ items: [internalRow], next: null }),
        internalOfTransaction: async () => [internalRow],
      })
      expect((await page(`/explorer/address/${BOB}?tab=internal`, { index })).text).toContain('1.5 dTNDM')
      expect((await page(`/explorer/tx/${transfer}`, { index })).text).toContain('Internal transfers')
    }))

  test('lists are taken as files, in which no cell is a formula', () =>
    withPages(async ({ page, coin, context, mine }) => {
      for (let i = 0; i < 130; i++) await mine()
      const row = (await context.index.token(coin)) as TokenRow
      const name = '=cmd|"/c calc"!A1,\u202E\n'
      const index = indexWith(context.index, {
        token: async () => ({ ...row, symbol: '@SUM(A1)' }),
        tokens: async () => ({ items: [{ ...row, name, symbol: '-1+1' }], next: null }),
        label: async () => '+1',
        internalTransfers: async () => ({ items: [internalRow], next: null }),
        blocksBy: (_role, _address, request) => context.index.blocks(request),
      })
      for (const [route, path] of csvPaths(coin)) {
        const { status, text, headers } = await page(`/explorer${path}`, { index })
        expect([route, status, headers['content-type']]).toEqual([route, 200, 'text/csv; charset=utf-8'])
        expect(headers['content-disposition']).toMatch(/^attachment; filename="[A-Za-z0-9-]+\.csv"$/)
        const lines = text.split('\r\n')
        expect(lines.length, route).toBeGreaterThan(2)
        expect(text).not.toMatch(/(^|,|\n)"?[=+\-@]/m)
      }
      expect((await page('/explorer/csv/tokens', { index })).text).toContain(`"'=cmd|""/c calc""!A1,",'-1+1,`)
      const blocks = (await page('/explorer/csv/blocks')).text.trimEnd().split('\r\n')
      expect(blocks).toHaveLength(1 + 133)
      const list = (await page('/explorer/blocks')).text
      const next = /blocks\?cursor=([^"]+)/.exec(list)?.[1] as string
      expect((await page(`/explorer/csv/blocks?cursor=${next}`)).text.split('\r\n')[1]).toBe(blocks[26])
      expect(list).toContain('/explorer/csv/blocks')
      expect((await page('/explorer/csv/address/x/transfers')).status).toBe(400)
      expect((await page('/explorer/csv/blocks?cursor=!')).status).toBe(400)
    }))

  test('name what is wrong', () =>
    withPages(async ({ page }) => {
      const statusOf = async (path: string): Promise<number> => (await page(path)).status
      for (const path of [
        '/nowhere',
        '/block/99',
        `/tx/0x${'1'.repeat(64)}`,
        `/block/0x${'1'.repeat(64)}`,
        `/token/${ALICE}`,
        '/blocks/x',
      ])
        expect([path, await statusOf(`/explorer${path}`)]).toEqual([path, 404])
      for (const path of [
        '/block/-1',
        '/block/x',
        '/tx/0x1',
        '/address/0x12',
        '/token/x',
        '/blocks?cursor=!',
        '/blocks?cursor=abc',
        '/txs?cursor=W10',
        `/blocks?cursor=${'a'.repeat(300)}`,
      ])
        expect([path, await statusOf(`/explorer${path}`)]).toEqual([path, 400])
      const { text } = await page('/explorer/%3Cscript%3Ealert(1)%3C/script%3E')
      expect(text).not.toContain('<script>alert')
      expect(text).toContain('<h1>Not found</h1>')
    }))

  test('a page of a list leads to the next', () =>
    withPages(async ({ page, mine }) => {
      for (let i = 0; i < 30; i++) await mine()
      const first = (await page('/explorer/blocks')).text
      const next = /href="(\/explorer\/blocks\?cursor=[^"]+)">Next page/.exec(first)?.[1] as string
      const second = (await page(next)).text
      expect(second).toContain('href="/explorer/block/0"')
      expect(second).not.toContain('Next page')
      expect(second).toContain('First page')
    }))

  test('a search for one thing goes to its page', () =>
    withPages(async ({ page, hashes, coin }) => {
      const places: Readonly<Record<string, string>> = {
        1: '/explorer/block/1',
        [hashes[1] as string]: `/explorer/tx/${hashes[1]}`,
        [ALICE.toUpperCase().replace('X', 'x')]: `/explorer/address/${checksumAddress(ALICE)}`,
        [coin]: `/explorer/token/${checksumAddress(coin)}`,
      }
      for (const [query, place] of Object.entries(places)) {
        const { status, headers } = await page(`/explorer/search?q=${encodeURIComponent(query)}`)
        expect([query, status, headers['location']]).toEqual([query, 302, place])
      }
      for (const query of ['bean', 'green', 'Bob']) {
        const { text } = await page(`/explorer/search?q=${query}`)
        expect(text, query).toMatch(query === 'Bob' ? /Bob Exchange/ : /Green Bean/)
      }
    }))

  test('wallets get the address of JSON-RPC: that of the page, one of its own, or none', () =>
    withPages(async ({ page }) => {
      const { rpcUrl: _, ...site } = PAGE_SITE
      const partsOf = async (changes: Partial<PageContext>) => {
        const { text } = await page('/explorer/network', changes)
        return {
          row: text.includes('JSON-RPC'),
          origin: text.includes('data-origin'),
          node: /this node/i.test(text),
          script: /<script src="\/explorer\/assets\/wallet/.test(text),
          wallets: /&quot;rpcUrls&quot;:(\[[^\]]*\])/.exec(text)?.[1]?.replaceAll('&quot;', '"'),
        }
      }
      const all = { row: true, origin: true, node: true, script: true, wallets: '["/"]' }
      expect(await partsOf({})).toEqual(all)
      const url = 'https://node.example'
      expect(await partsOf({ site: { ...site, rpcUrl: url } })).toEqual({
        ...all,
        origin: false,
        node: false,
        wallets: `["${url}"]`,
      })
      expect(await partsOf({ site })).toEqual({
        row: false,
        origin: false,
        node: false,
        script: false,
        wallets: undefined,
      })
    }))

  test('an index that is being filled has a page of its own', () =>
    withPages(async ({ page, context }) => {
      const index = indexWith(context.index, { position: async () => undefined })
      const rules = { ...context.rules, isDevelopment: false }
      const { status, text, headers } = await page('/explorer', { index, rules })
      expect([status, headers['retry-after']]).toEqual([503, '1'])
      expect(text).toContain('data-reload')
    }))

  test('are compressed for those who take it', () =>
    withPages(async ({ context }) => {
      const pages = { ...context, site: PAGE_SITE }
      const app = createPageServer({ context: pages, readiness: new Readiness(pages), logger: silentLogger })
      const { rawPayload, headers } = await app.inject({ url: '/explorer', headers: { 'accept-encoding': 'gzip' } })
      expect([headers['content-encoding'], headers['vary']]).toEqual(['gzip', 'accept-encoding'])
      expect(gunzipSync(rawPayload).toString()).toContain('<!doctype html>')
      await app.close()
    }))
})

/** Tags of a page, without text. */
const tagsOf = (text: string): readonly string[] => text.match(/<\/?[a-z!][a-z0-9]*/gi) ?? []
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u

test('names, symbols, labels and reasons that an attacker chose add no tag and no invisible character', () =>
  withPages(async ({ page, context, coin, hashes }) => {
    const rowOf = (await context.index.token(coin)) as TokenRow
    const failed = hashes[3] as Hex
    const pagesWith = async (name: string, reason: string): Promise<readonly string[]> => {
      const row: TokenRow = { ...rowOf, name, symbol: name }
      const index = indexWith(context.index, {
        token: async () => row,
        tokens: async () => ({ items: [row], next: null }),
        label: async () => name,
        tokenBalances: async () => [{ token: row, balance: 1n }],
        failedExecution: async () => ({ blockNumber: 2, transactionIndex: 2, ...revertWith(reason) }),
      })
      const node = {
        ...context.node,
        rpc: async () => JSON.stringify({ result: { type: 'CALL', from: ALICE, revertReason: reason } }),
      }
      const paths = [
        '',
        '/tokens',
        `/token/${coin}`,
        `/address/${ALICE}?tab=tokens`,
        `/tx/${failed}`,
        `/tx/${failed}?tab=calls`,
        `/search?q=${encodeURIComponent('green')}`,
      ]
      return Promise.all(
        paths.map(async path => {
          const { status, text } = await page(`/explorer${path}`, { index, node })
          expect([path, status]).toEqual([path, 200])
          return text
        }),
      )
    }
    const plain = await pagesWith('x', 'x')
    expect(plain[4]).toContain('<bdi class="name">x</bdi>')
    await fc.assert(
      fc.asyncProperty(attackerText(), attackerText(), async (name, reason) => {
        const made = await pagesWith(name === '' ? 'x' : `x${name}`, `x${reason}`)
        made.forEach((text, at) => {
          expect(tagsOf(text)).toEqual(tagsOf(plain[at] as string))
          expect(HIDDEN.test(text.replaceAll('\n', ''))).toBe(false)
          expect(text.length).toBeLessThan((plain[at] as string).length + 12_000)
        })
      }),
      { seed: SEED, numRuns: 25 },
    )
  }))
