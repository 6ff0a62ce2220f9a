import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dockerFile } from './containers.ts'
import { eventually } from './node-process.ts'

/* A real nginx and a real Caddy with the configurations of docker/. */

const nginxProgram = ['nginx', '/usr/sbin/nginx'].find(path => spawnSync(path, ['-v']).status === 0)
const caddyProgram = ['caddy', '/usr/bin/caddy'].find(path => spawnSync(path, ['version']).status === 0)

interface RunningProxy {
  readonly url: string
  stop(): Promise<void>
}

/** nginx in the foreground, without a master process, with the configuration that the docs show. */
const startNginx = async (dir: string, upstreams: readonly string[], port: number): Promise<RunningProxy> => {
  const prefix = join(dir, 'nginx')
  mkdirSync(prefix)
  const servers = upstreams.map(upstream => `    server ${upstream};\n`).join('')
  const conf = dockerFile('nginx/tandem.conf').replace(/(?: {4}server full-\d:8545;\n)+/, servers)
  writeFileSync(join(prefix, 'tandem.conf'), conf.replace('listen 8080', `listen 127.0.0.1:${port}`))
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${prefix}/${name};`,
  )
  writeFileSync(
    join(prefix, 'nginx.conf'),
    `daemon off; master_process off; pid ${prefix}/pid; error_log stderr warn; events {}\nhttp { access_log off; ${folders.join(' ')} include ${prefix}/tandem.conf; }\n`,
  )
  return startProxy('nginx', nginxProgram as string, ['-p', prefix, '-c', join(prefix, 'nginx.conf')], port)
}

/** Caddy with the site that the docs show, without its admin port. */
const startCaddy = async (dir: string, upstreams: readonly string[], port: number): Promise<RunningProxy> => {
  const prefix = join(dir, 'caddy')
  mkdirSync(prefix)
  const site = dockerFile('caddy/Caddyfile')
    .replace('127.0.0.1:8545', upstreams.join(' '))
    .replace('rpc.example.org', `http://127.0.0.1:${port}`)
  writeFileSync(join(prefix, 'Caddyfile'), `{\n    admin off\n}\n${site}`)
  const args = ['run', '--adapter', 'caddyfile', '--config', join(prefix, 'Caddyfile')]
  return startProxy('caddy', caddyProgram as string, args, port, {
    HOME: prefix,
    XDG_DATA_HOME: prefix,
    XDG_CONFIG_HOME: prefix,
  })
}

const startProxy = async (
  name: string,
  program: string,
  args: readonly string[],
  port: number,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningProxy> => {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let log = ''
  child.stderr.on('data', data => {
    log += String(data)
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(name, async () => {
    if (child.exitCode !== null) throw new Error(log)
    return (await fetch(`${url}/health`).catch(() => undefined)) && true
  })
  return {
    url,
    stop: async () => {
      const gone = new Promise(resolve => child.once('close', resolve))
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** Both proxies; `why` says why one cannot run here. `begin` starts one in a folder, in front of nodes by HOST:PORT. */
export const PROXIES = [
  { name: 'nginx', why: nginxProgram === undefined ? 'nginx is not installed' : undefined, begin: startNginx },
  { name: 'caddy', why: caddyProgram === undefined ? 'caddy is not installed' : undefined, begin: startCaddy },
]
