import { existsSync } from 'node:fs'

/* The parts of playwright-core that the tests use; it is loaded only where a browser is installed. */

interface Response {
  status(): number
}

interface Locator {
  click(): Promise<void>
  fill(text: string): Promise<void>
  press(key: string): Promise<void>
  textContent(): Promise<string | null>
  count(): Promise<number>
  first(): Locator
  waitFor(): Promise<void>
}

export interface BrowserPage {
  goto(url: string): Promise<Response | null>
  locator(selector: string, options?: { readonly hasText?: string }): Locator
  getByRole(role: string, options?: { readonly name?: string | RegExp; readonly exact?: boolean }): Locator
  evaluate<T>(work: string | ((argument: never) => T | Promise<T>), argument?: unknown): Promise<T>
  emulateMedia(options: { readonly colorScheme: 'light' | 'dark' }): Promise<void>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  /** Makes a function of the test callable in the page, as `window[name]`. */
  exposeFunction(name: string, work: (argument: never) => unknown): Promise<void>
  addInitScript(script: { readonly content: string }): Promise<void>
  screenshot(options: { readonly path: string; readonly fullPage?: boolean }): Promise<unknown>
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  on(
    event: 'pageerror' | 'console' | 'requestfailed',
    listener: (event: { toString(): string; text?(): string; type?(): string }) => void,
  ): void
  waitForURL(url: RegExp): Promise<void>
  url(): string
  close(): Promise<void>
}

interface BrowserContext {
  newPage(): Promise<BrowserPage>
  setDefaultTimeout(ms: number): void
  close(): Promise<void>
}

export interface ContextOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce'
  readonly javaScriptEnabled?: boolean
  readonly extraHTTPHeaders?: Readonly<Record<string, string>>
}

export interface Browser {
  newContext(options?: ContextOptions): Promise<BrowserContext>
  close(): Promise<void>
}

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Path of the browser of this machine; undefined: there is none. `CHROMIUM` names another. */
export const browserPath = (): string | undefined =>
  [process.env['CHROMIUM'], ...PLACES].find(path => path !== undefined && existsSync(path))

/** Starts a browser without a window. */
export const launchBrowser = async (executablePath: string): Promise<Browser> => {
  const name: string = 'playwright-core'
  const { chromium } = (await import(name)) as {
    readonly chromium: { launch(options: object): Promise<Browser> }
  }
  // As root and in containers the browser has neither its sandbox nor much shared memory.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
}
