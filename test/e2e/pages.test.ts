import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedRaw } from '../support/chain.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { type Browser, type BrowserPage, browserPath, type ContextOptions, launchBrowser } from './browser.ts'
import { fillPageChain, type PageChain, pagePaths } from './page-chain.ts'

/*
 * The pages in a real browser. Without one there is nothing to test with: `apt-get install chromium`, or name one in CHROMIUM. CI installs it.
 */

const CHROMIUM = browserPath()
const KEY = 'pages-test'
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

let dir: string
let node: RunningNode
let chain: PageChain
let browser: Browser
let paths: Readonly<Record<string, string>>

beforeAll(async () => {
  if (CHROMIUM === undefined) return
  dir = mkdtempSync(join(tmpdir(), 'tandem-pages-'))
  const keys = join(dir, 'keys')
  writeFileSync(keys, `${KEY}\n`)
  const started = await Promise.all([
    // A key has room for the pages of all tests in one minute.
    startDevnet(['--execution', 'wasm', '--explorer-keys', keys, '--mine', '--mine-duty', '0.2']),
    launchBrowser(CHROMIUM),
  ])
  node = started[0]
  browser = started[1]
  chain = await fillPageChain(node, { 'x-api-key': KEY })
  paths = pagePaths(chain, node.accounts[1]?.address as string, node.accounts[0]?.address as string)
})

afterAll(async () => {
  await browser?.close()
  await node?.stop()
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true })
})

/** Lends a page of a new browser profile; errors of its scripts and of its policy fail the test. */
const withPage = async (options: ContextOptions, use: (page: BrowserPage) => Promise<void>): Promise<void> => {
  const context = await browser.newContext({ extraHTTPHeaders: { 'x-api-key': KEY }, ...options })
  const errors: string[] = []
  const page = await context.newPage()
  page.on('pageerror', error => errors.push(String(error)))
  page.on('console', message => {
    const text = message.text?.() ?? ''
    // The browser reports every answer of a refused form or a missing page.
    if (message.type?.() === 'error' && !/status of (400|404|429)/.test(text)) errors.push(text)
  })
  try {
    await use(page)
    expect(errors).toEqual([])
  } finally {
    await context.close()
  }
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly target: readonly string[] }[]
  }[]
}

const axeScript = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules whose outcome depends on colours, and on widths; the others see the same document in every look. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']
const WIDTH_RULES = ['target-size', 'scrollable-region-focusable', 'link-in-text-block']
/** Pages that have every part of the others: they are held against every rule in every look. */
const WHOLE = ['node', 'home', 'transaction-failed']

/** Violations of the accessibility rules, each with its first place. */
const violationsOf = async (page: BrowserPage, runOnly: readonly string[]): Promise<readonly string[]> => {
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`,
  )
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

/** Pages that are checked at the same time. */
const TABS = 3
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

describe.skipIf(CHROMIUM === undefined)('pages in a browser (skipped where there is none)', () => {
  const looks = [
    { colorScheme: 'light', width: 1280, rules: RULES },
    { colorScheme: 'dark', width: 1280, rules: COLOUR_RULES },
    { colorScheme: 'light', width: 360, rules: WIDTH_RULES },
    { colorScheme: 'dark', width: 360, rules: [] },
  ] as const

  test('every page breaks no rule of accessibility and fits, in light and dark, at 360 and 1280 px', async () => {
    const problems: string[] = []
    const left = Object.entries(paths)
    const checkPages = (): Promise<void> =>
      withPage({ reducedMotion: 'reduce' }, async page => {
        await page.addInitScript({ content: axeScript() })
        for (let next = left.pop(); next !== undefined; next = left.pop())
          problems.push(...(await checkPage(page, next)))
      })
    await Promise.all(Array.from({ length: TABS }, checkPages))
    expect(problems).toEqual([])
  })

  const checkPage = async (page: BrowserPage, [name, path]: readonly [string, string]): Promise<readonly string[]> => {
    const problems: string[] = []
    const response = await page.goto(node.http + path)
    expect([name, response?.status()]).toEqual([name, name === 'not-found' ? 404 : 200])
    for (const { colorScheme, width, rules } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      const look = `${name}, ${colorScheme}, ${width} px`
      const overflow = await page.evaluate<number>(OVERFLOW)
      if (overflow > 0) problems.push(`${look}: ${overflow} px too wide`)
      const wanted = WHOLE.includes(name) ? RULES : rules
      const violations = wanted.length === 0 ? [] : await violationsOf(page, wanted)
      problems.push(...violations.map(violation => `${look}: ${violation}`))
    }
    return problems
  }

  test('read well without script', () =>
    withPage({ javaScriptEnabled: false, viewport: { width: 360, height: 900 } }, async page => {
      // That every page is whole without script is held by the unit tests of the pages.
      for (const name of ['node', 'transaction', 'stats', 'verify', 'faucet']) {
        await page.goto(node.http + paths[name])
        expect([name, await page.locator('main h1').count()]).toEqual([name, 1])
      }
      await page.goto(`${node.http}/explorer`)
      await page.locator('#q').fill('green bean')
      await page.locator('#q').press('Enter')
      await page.waitForURL(/search/)
      expect(await page.locator('main').textContent()).toContain('BEAN')
      await page.locator('summary').first().click()
      await page.getByRole('link', { name: 'Validators' }).first().click()
      await page.waitForURL(/validators/)
    }))

  test('work by keyboard alone', () =>
    withPage({ viewport: { width: 1280, height: 900 } }, async page => {
      const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.outerHTML.slice(0, 120)')
      await page.goto(`${node.http}/explorer`)
      await page.keyboard.press('Tab')
      expect(await focused()).toContain('class="skip"')
      await page.keyboard.press('Enter')
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('main')
      await page.keyboard.press('/')
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('q')
      await page.keyboard.type(chain.plain)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/explorer\/tx\/0x/)
      expect(await page.locator('main').textContent()).toContain('1.23456789 dTNDM')
      await page.keyboard.press('/')
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('q')
    }))

  test('every control of the pages with forms is reached by keyboard, and shows where the focus is', () =>
    withPage({ viewport: { width: 1280, height: 900 } }, async page => {
      for (const name of ['contract', 'contract-read', 'contract-write', 'verify', 'faucet', 'address-internal']) {
        await page.goto(new URL(paths[name] as string, node.http).href)
        const controls = await page.evaluate<number>(
          `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(element => element.type !== 'hidden' && element.checkVisibility() && !element.disabled).length`,
        )
        const reached = new Set<number>()
        for (let presses = 0; presses < controls; presses++) {
          await page.keyboard.press('Tab')
          const [place, isShown] = await page.evaluate<readonly [number, boolean]>(
            `(() => { const focused = document.activeElement, style = getComputedStyle(focused); return [[...document.querySelectorAll('*')].indexOf(focused), style.outlineStyle !== 'none' || style.boxShadow !== 'none'] })()`,
          )
          expect([name, presses, isShown]).toEqual([name, presses, true])
          reached.add(place)
        }
        expect([name, reached.size]).toEqual([name, controls])
      }
    }))

  test('the search finds block, transaction, address, token and label', async () => {
    const block = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['0x1', false])
    const found: readonly (readonly [string, RegExp, string])[] = [
      ['1', /block\/1$/, 'Block 1'],
      [block.hash, /block\/1$/, 'Block 1'],
      [chain.failed, /tx\/0x/, 'The transaction failed'],
      [chain.coin, /token\/0x/, 'Green Bean'],
      [node.accounts[0]?.address as string, /address\/0x/, 'Balance'],
      ['bean', /search/, 'Green Bean'],
      ['devnet', /search/, 'Validator devnet'],
    ]
    await withPage({}, async page => {
      await page.goto(`${node.http}/explorer`)
      for (const [text, url, shown] of found) {
        await page.locator('#q').fill(text)
        await page.locator('#q').press('Enter')
        await page.waitForURL(url)
        expect([text, (await page.locator('main').textContent())?.includes(shown)]).toEqual([text, true])
      }
    })
  })

  test("the node's page names the address of the browser, whatever the proxy in front of the node calls it", async () => {
    const proxy = createServer((request, response) => {
      const headers = { ...request.headers, host: 'localhost' }
      const inner = httpRequest(node.http + request.url, { headers }, answer => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(inner)
    })
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    await withPage({}, async page => {
      await page.goto(`http://${host}/`)
      const text = (await page.locator('[data-origin]').textContent()) ?? ''
      expect(text).toContain(`http://${host}`)
      expect(text).toContain(`ws://${host}/ws`)
      expect(text).not.toContain('localhost')
    })
    proxy.closeAllConnections()
    proxy.close()
  })

  test('blocks appear on the home page as they are made, and stop when told', () =>
    withPage({}, async page => {
      await page.goto(`${node.http}/explorer`)
      const head = "Number(document.querySelector('[data-live=head]').textContent.replace(',', ''))"
      const first = await page.evaluate<number>(head)
      const later = (than: number): string =>
        `new Promise(resolve => { const look = () => (${head} > ${than} ? resolve(${head}) : setTimeout(look, 50)); look() })`
      const next = await page.evaluate<number>(later(first))
      expect(next).toBeGreaterThan(first)
      // Read at once: the next block may be there at any time.
      const newest = "document.querySelector('[data-live=blocks] li').textContent"
      const [number, row] = await page.evaluate<[number, string]>(`[${head}, ${newest}]`)
      expect(row).toContain(number.toLocaleString('en-US'))
      await page.getByRole('button', { name: 'Live' }).click()
      const stopped = await page.evaluate<number>(head)
      const before = Number(await node.rpc('eth_blockNumber'))
      await node.rpc('evm_mine')
      expect(Number(await node.rpc('eth_blockNumber'))).toBeGreaterThan(before)
      expect(await page.evaluate<number>(head)).toBe(stopped)
      expect(await page.locator('button.live').textContent()).toBe('Paused')
    }))

  test('the theme is kept, and values are copied', () =>
    withPage({ colorScheme: 'light' }, async page => {
      await page.goto(node.http)
      const background = 'getComputedStyle(document.body).backgroundColor'
      const light = await page.evaluate<string>(background)
      await page.locator('button.theme').click()
      const dark = await page.evaluate<string>(background)
      expect(dark).not.toBe(light)
      await page.goto(`${node.http}/explorer/blocks`)
      expect(await page.evaluate<string>(background)).toBe(dark)
      await page.goto(node.http)
      await page.locator('button.copy').first().click()
      expect(await page.locator('button.copy').first().count()).toBe(1)
      expect(await page.evaluate<string>("document.querySelector('button.copy').dataset.copy")).toBe(node.http)
    }))

  test('a wallet is asked to add the network', () =>
    withPage({}, async page => {
      await page.addInitScript({
        content: `
          const info = { uuid: '1', name: '<b>Stub</b>', icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>', rdns: 'x' }
          const provider = { request: async asked => { window.asked = asked } }
          addEventListener('eip6963:requestProvider', () =>
            dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })))`,
      })
      await page.goto(`${node.http}/explorer/network`)
      const asked = async (): Promise<unknown> => {
        await page.getByRole('button', { name: 'Add to <b>Stub</b>' }).click()
        return (await page.evaluate<{ params: readonly object[] }>('window.asked')).params[0]
      }
      expect(await asked()).toMatchObject({
        chainId: '0x1e8097',
        rpcUrls: [node.http],
        blockExplorerUrls: [`${node.http}/explorer`],
        nativeCurrency: { symbol: 'dTNDM', decimals: 18 },
      })
      // As of an explorer elsewhere, with --rpc-url.
      await page.evaluate(
        `{ const { dataset } = document.querySelector('.wallets'); dataset.chain = dataset.chain.replace('"/"', '"https://node.example"') }`,
      )
      expect(await asked()).toMatchObject({
        rpcUrls: ['https://node.example'],
        blockExplorerUrls: [`${node.http}/explorer`],
      })
    }))

  test('a verified contract shows its source, and is read by a form without script', () =>
    withPage({ javaScriptEnabled: false }, async page => {
      await page.goto(`${node.http}/explorer/address/${chain.coin}`)
      await page.getByRole('link', { name: 'Source code' }).click()
      const source = await page.locator('main').textContent()
      expect(source).toContain('verified: exact')
      expect(source).toContain('string public name = "Green Bean"')
      await page.getByRole('link', { name: 'Read', exact: true }).click()
      expect(await page.locator('#f-0x06fdde03').textContent()).toContain('Green Bean')
      await page.locator('#a-0x70a08231-0').fill(node.accounts[1]?.address as string)
      await page.locator('#f-0x70a08231 button').click()
      expect(await page.locator('#f-0x70a08231 .result').textContent()).toContain('250500007')
    }))

  test('a wallet signs a write, which a block includes', () =>
    withPage({}, async page => {
      const [alice] = node.accounts as readonly [RunningNode['accounts'][number]]
      const to = `0x${'5e'.repeat(20)}`
      await page.exposeFunction('signAndSend', async (asked: { to: Hex; data: Hex; value: Hex; gasPrice: Hex }) => {
        const nonce = Number(await node.rpc('eth_getTransactionCount', [alice.address, 'pending']))
        const fields = { chainId: node.chainId, gasLimit: 200_000n, nonce, to: asked.to, value: BigInt(asked.value) }
        const raw = signedRaw(hexToBytes(alice.privateKey), { ...fields, data: hexToBytes(asked.data) })
        return node.rpc('eth_sendRawTransaction', [bytesToHex(raw)])
      })
      await page.addInitScript({
        content: `
          const ask = (method, params) => fetch('/', { method: 'POST', headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }).then(r => r.json()).then(({ result }) => result)
          const provider = { request: ({ method, params }) =>
            method === 'eth_requestAccounts' ? ['${alice.address}']
            : method === 'eth_sendTransaction' ? window.signAndSend(params[0])
            : ask(method, params ?? []) }
          const info = { uuid: '1', name: 'Stub', icon: '', rdns: 'x' }
          addEventListener('eip6963:requestProvider', () =>
            dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })))`,
      })
      await page.goto(`${node.http}/explorer/address/${chain.coin}?tab=write`)
      await page.locator('#a-0xa9059cbb-0').fill(to)
      await page.locator('#a-0xa9059cbb-1').fill('77')
      await page.locator('#f-0xa9059cbb button').first().click()
      await page.getByRole('button', { name: 'Sign with Stub' }).click()
      await page.locator('[data-wallet-status]', { hasText: 'Done:' }).waitFor()
      const data = `0x70a08231${to.slice(2).padStart(64, '0')}`
      expect(Number(await node.rpc('eth_call', [{ to: chain.coin, data }, 'latest']))).toBe(77)
    }))

  test('the faucet pays from its page, and says why it does not', () =>
    withPage({}, async page => {
      await page.addInitScript({ content: axeScript() })
      const ask = async (text: string): Promise<void> => {
        await page.goto(`${node.http}/faucet`)
        await page.locator('#address').fill(text)
        await page.locator('form[data-faucet] button').click()
      }
      const address = `0x${'fe'.repeat(20)}`
      await ask(address)
      await page.waitForURL(/grants\/0xfefe/)
      await page.getByRole('heading', { name: 'Your tokens are there' }).waitFor()
      expect(await node.rpc('eth_getBalance', [address, 'latest'])).toBe('0x8ac7230489e80000')
      expect(await page.locator('main').textContent()).toMatch(/Next grant\s*in (1 day|23 hours)/)
      await ask(address)
      await page.locator('#faucet-error', { hasText: 'The next one is possible in' }).waitFor()
      expect(await page.evaluate<string>('document.activeElement.id')).toBe('address')
      expect(await violationsOf(page, RULES)).toEqual([])
      for (const [wrong, message] of [
        ['0x12', /this has 2/],
        [address.slice(2), /Put 0x/],
        ['alice.eth', /begins with 0x/],
        [`0x${'0'.repeat(40)}`, /zero address/],
        ['', /Enter an address/],
      ] as const) {
        await ask(wrong)
        await page.locator('#faucet-error').waitFor()
        expect(await page.locator('#faucet-error').textContent()).toMatch(message)
        expect(await page.evaluate<string>("document.querySelector('#address').value")).toBe(wrong)
      }
    }))

  test('the first page is light', async () => {
    for (const path of ['/', '/explorer']) {
      const text = await (await fetch(node.http + path, { headers: { accept: 'text/html', 'x-api-key': KEY } })).text()
      const assets = [...text.matchAll(/(?:href|src)="((?:\/explorer)?\/assets\/[^"]+)"/g)].map(
        ([, asset]) => asset as string,
      )
      const bodies = await Promise.all(assets.map(async asset => (await fetch(node.http + asset)).text()))
      const bytes = [text, ...bodies].reduce((sum, body) => sum + gzipSync(body).byteLength, 0)
      expect(bytes).toBeLessThan(50_000)
    }
  })
})
