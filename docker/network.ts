import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openLocalnet, type PreparedNode } from '../src/cli/localnet/folder.ts'
import { keyFileOf } from '../src/cli/localnet/plan.ts'
import { peerUrl } from '../src/network/identity/peer-url.ts'

/*
 * The nodes of docker/compose.yaml. `network.ts setup DIR` makes their keys and genesis, once; `network.ts start DIR NAME [options]` runs
 * one of them. They find each other by their names, or as DIR/hosts.json says.
 */

const FULL_NODES = 2

interface NodeHost {
  readonly host: string
  readonly http: number
  readonly metrics: number
  readonly p2p: number
}

const [action, dir = '', name = '', ...more] = process.argv.slice(2)
if (dir === '' || (action !== 'setup' && (action !== 'start' || name === ''))) {
  process.stderr.write('usage: network.ts setup DIR | network.ts start DIR NAME [options of tandem start]\n')
  process.exit(2)
}

const { nodes, genesisFile, genesisHash } = await openLocalnet(dir, {}, FULL_NODES)

const hostsFile = join(dir, 'hosts.json')
const hosts = existsSync(hostsFile) ? (JSON.parse(readFileSync(hostsFile, 'utf8')) as Record<string, NodeHost>) : {}
const hostOf = (node: PreparedNode): NodeHost =>
  hosts[node.name] ?? { host: node.name, http: 8545, metrics: 6060, p2p: 30_333 }

const argsOf = (node: PreparedNode): readonly string[] => {
  const own = hostOf(node)
  // A container's own name is one of its addresses; without a file of hosts it listens at all of them.
  const listen = node.name in hosts ? '127.0.0.1' : '0.0.0.0'
  const peers = nodes
    .filter(other => other !== node)
    .map(other => peerUrl({ id: other.id, host: hostOf(other).host, port: hostOf(other).p2p }))
  return [
    ...['start', '--network', 'devnet', '--genesis', genesisFile, '--datadir', node.folder, '--json'],
    ...(node.isValidator ? ['--validator-key', keyFileOf(node)] : []),
    ...['--host', listen, '--port', String(own.http), '--operator-port', 'off'],
    ...['--metrics-host', listen, '--metrics-port', String(own.metrics)],
    ...['--p2p-host', listen, '--p2p-port', String(own.p2p), '--no-discovery', '--peers', peers.join(',')],
    ...more,
  ]
}

if (action === 'setup')
  process.stdout.write(`${JSON.stringify({ genesisHash, nodes: nodes.map(node => node.name) })}\n`)
else {
  const node = nodes.find(other => other.name === name)
  if (node === undefined || process.execve === undefined) throw new Error(`there is no node ${name}`)
  const launcher = fileURLToPath(new URL('../bin/tandem.mjs', import.meta.url))
  // The launcher, and then the node, take the place of this process and its signals.
  process.execve(process.execPath, [process.execPath, launcher, ...argsOf(node)], process.env as Record<string, string>)
}
