import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Time after which every thread of a chain has written its code (src/cli/boot.ts). */
const WAIT_MS = 8_000

interface Ready {
  readonly http: string
  readonly pages?: string
}

/** Runs an executable that has no compiled code yet as its users do, and moves the code that its starts keep to `file`. */
export const keepCode = async (executable: string, file: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-code-'))
  try {
    for (const args of [['devnet'], ['localnet']])
      await useChain(executable, [...args, '--port', '0', '--json'], folder)
    const [name] = globSync('start-*.bin', { cwd: folder })
    if (name === undefined) throw new Error('no start kept its code')
    renameSync(join(folder, name), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const useChain = async (executable: string, args: readonly string[], folder: string): Promise<void> => {
  const env = { ...process.env, NODE_COMPILE_CACHE: folder }
  const child = spawn(executable, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) =>
    child.once('close', code => reject(new Error(`${args[0]} ended with ${code}`))),
  )
  ended.catch(() => {})
  const line = new Promise<string>(resolve => createInterface({ input: child.stdout }).once('line', resolve))
  const { http, pages } = JSON.parse(await Promise.race([line, ended])) as Ready
  const call = async (method: string, params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    await (await fetch(http, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
  }
  const address = `0x${'11'.repeat(20)}`
  await call('eth_chainId', [])
  await call('eth_call', [{ to: address }, 'latest'])
  await call('eth_getLogs', [{ fromBlock: '0x0' }])
  if (pages !== undefined) await fetch(pages)
  await Promise.race([new Promise(resolve => setTimeout(resolve, WAIT_MS)), ended])
  const closed = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGTERM')
  await closed
}
