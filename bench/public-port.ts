import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { writeCertificate } from '../test/support/certificate.ts'
import { spawnNode } from '../test/support/node-process.ts'
import { cpuMsOf } from './process-usage.ts'

/*
 * Cost of a call by the options of the public port: `node bench/public-port.ts [option...]`, one JSON line for each option and method. CPU time of the
 * node's process, which does not depend on what else the machine does, and calls a second of 16 connections that keep alive.
 */

const CALLS = 8_000
const CONNECTIONS = 16
const ADDRESS = `0x${'12'.repeat(20)}`
const METHODS = { eth_blockNumber: [], eth_getBalance: [ADDRESS, 'latest'] }

const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text, { mode: 0o600 })
  return join(dir, name)
}
const stake = (35_000_000n * 10n ** 18n).toString()
const genesis = file(
  'genesis.json',
  JSON.stringify({
    ...{ format: 'tandem/1', network: 'testnet', timestamp: 1_735_689_600, foundation: ADDRESS },
    council: [{ name: 'only', validator: ADDRESS, reward: ADDRESS, stake }],
    alloc: {},
  }),
)
const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
writeCertificate(certFile, keyFile)
const tls = ['--tls-cert', certFile, '--tls-key', keyFile]
const secret = 'ab'.repeat(32)

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (): string => {
  const body = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ iat: Math.floor(Date.now() / 1_000) })}`
  return `${body}.${createHmac('sha256', Buffer.from(secret, 'hex')).update(body).digest('base64url')}`
}

interface Option {
  readonly args: readonly string[]
  readonly headers?: () => string
}

const OPTIONS: Readonly<Record<string, Option>> = {
  none: { args: [] },
  'trust-proxy': { args: ['--trust-proxy', '1'], headers: () => 'x-forwarded-for: 203.0.113.7\r\n' },
  'rate-limit': { args: ['--rate-limit', '1000000'] },
  'api-keys': {
    args: ['--api-keys', file('keys', `shop ${'s'.repeat(20)} 100000\n`)],
    headers: () => `x-api-key: ${'s'.repeat(20)}\r\n`,
  },
  jwt: { args: ['--jwt-secret', file('jwt', secret)], headers: () => `authorization: Bearer ${token()}\r\n` },
  compression: { args: ['--compression'], headers: () => 'accept-encoding: gzip\r\n' },
  tls: { args: tls },
}

/** Sends the request `count` times, each after the answer to the one before. */
const repeat = (socket: Socket, request: string, count: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let left = count
    socket.on('error', reject)
    socket.on('data', data => {
      // One packet is one answer: they are short.
      if (!data.toString('latin1').startsWith('HTTP/1.1 200')) return reject(new Error(data.toString()))
      if (--left === 0) return resolve(void socket.destroy())
      socket.write(request)
    })
    socket.write(request)
  })

const measure = async (option: string, { args, headers = () => '' }: Option): Promise<void> => {
  const start = ['start', '--network', 'testnet', '--genesis', genesis, '--datadir', join(dir, `data-${option}`)]
  const node = spawnNode([...start, '--port', '0', '--operator-port', 'off', '--log-level', 'error', ...args])
  const { http } = await node.ready
  const port = Number(new URL(http).port)
  for (const [method, params] of Object.entries(METHODS)) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const request = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${headers()}content-length: ${body.length}\r\n\r\n${body}`
    const run = (calls: number) =>
      Promise.all(
        Array.from({ length: CONNECTIONS }, () => {
          const socket = option === 'tls' ? connectTls({ port, rejectUnauthorized: false }) : connect(port)
          return repeat(socket, request, calls / CONNECTIONS)
        }),
      )
    await run(CALLS / 4)
    const [beganMs, before] = [performance.now(), cpuMsOf(node.child.pid as number)]
    await run(CALLS)
    const seconds = (cpuMsOf(node.child.pid as number) - before) / 1_000
    const perSecond = Math.round((CALLS * 1_000) / (performance.now() - beganMs))
    const figures = { cpuMicrosPerCall: Math.round((seconds * 1e6) / CALLS), callsPerSecond: perSecond }
    process.stdout.write(`${JSON.stringify({ bench: 'public-port', option, method, ...figures })}\n`)
  }
  await node.end('SIGTERM')
}

try {
  const wanted = process.argv.slice(2)
  for (const [option, settings] of Object.entries(OPTIONS))
    if (wanted.length === 0 || wanted.includes(option)) await measure(option, settings)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
