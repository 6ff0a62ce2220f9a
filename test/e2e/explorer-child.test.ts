import { readdirSync, readFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { FORWARD_LIMITS } from '../../src/config/limits/clients.ts'
import { eventually, startDevnet } from '../support/devnet.ts'

/* The explorer of a node is a process of its own: what becomes of one when the other is killed, and what one client may hold of it. */

/** Process ids of the explorers that the process `parent`, or what it started, runs. */
const explorersOf = (parent: number): readonly number[] => {
  const parents = new Map<number, number>()
  const explorers: number[] = []
  for (const name of readdirSync('/proc').filter(each => /^\d+$/.test(each))) {
    try {
      parents.set(Number(name), Number(/^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]))
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('behind-node')) explorers.push(Number(name))
    } catch {
      // It has ended.
    }
  }
  const isBelow = (id: number | undefined): boolean => id !== undefined && (id === parent || isBelow(parents.get(id)))
  return explorers.filter(isBelow)
}

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\sZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('an explorer that is killed comes back, a client holds a share of it, and it ends with a node that is killed', async () => {
  const node = await startDevnet(['--port', '0'])
  onTestFinished(() => node.kill())
  const blocks = new URL('/api/blocks?limit=1', node.http)
  const status = async (): Promise<number> => {
    const response = await fetch(blocks)
    if (response.status !== 200) expect(await response.text()).toMatch(/EXPLORER_UNAVAILABLE|INDEX/)
    return response.status
  }
  const isServed = () => eventually('the explorer serves', status, code => code === 200)
  await isServed()

  // The second end comes soon after the first one, so the pause before the next start is longer.
  const node1 = node.process.pid as number
  const retries: number[] = []
  for (let kill = 0; kill < 2; kill++) {
    const [explorer] = explorersOf(node1)
    process.kill(explorer as number, 'SIGKILL')
    await eventually(
      'its end',
      async () => isRunning(explorer as number),
      running => !running,
    )
    const refused = await eventually(
      'a refusal',
      () => fetch(blocks),
      response => response.status === 503,
    )
    retries.push(Number(refused.headers.get('retry-after')))
    await isServed()
    expect(await node.rpc('eth_chainId', [])).toMatch(/^0x/)
  }
  expect(retries).toEqual([1, 2])

  // Requests whose bodies do not come: one address has its share of them, and another one is served meanwhile.
  const waiting: ClientRequest[] = []
  onTestFinished(() => waiting.forEach(each => void each.destroy()))
  const refusals: (number | undefined)[] = []
  const share = FORWARD_LIMITS.requests.client
  for (let count = 0; count < share + 3; count++) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 10 }
    const held = request(new URL('/api', node.http), { method: 'POST', headers, localAddress: '127.0.0.2' })
    held.once('response', response => refusals.push(response.resume().statusCode))
    held.on('error', () => undefined)
    held.flushHeaders()
    waiting.push(held)
  }
  await eventually(
    'refusals',
    async () => refusals,
    codes => codes.length >= 3,
  )
  expect(refusals).toEqual([503, 503, 503])
  await isServed()

  const [explorer] = explorersOf(node1)
  node.process.kill('SIGKILL')
  await eventually(
    'the end of the explorer',
    async () => isRunning(explorer as number),
    running => !running,
  )
})
