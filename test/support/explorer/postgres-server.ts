import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from 'pg'
import { eventually, freePort } from '../node-process.ts'

const ROOT = '/usr/lib/postgresql'

/** Folder of the newest PostgreSQL of this machine, as Debian installs it; undefined: there is none. */
const binaries = (): string | undefined =>
  !existsSync(ROOT)
    ? undefined
    : readdirSync(ROOT)
        .sort((a, b) => Number(b) - Number(a))
        .map(version => join(ROOT, version, 'bin'))
        .find(bin => existsSync(join(bin, 'initdb')))

/** Why tests with PostgreSQL cannot run here; undefined: they can. */
export const POSTGRES_MISSING = binaries() === undefined ? 'no PostgreSQL: apt-get install postgresql' : undefined

/** PostgreSQL does not run as root: the user it then runs as. */
const userOf = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = lines.find(text => text.startsWith('postgres:')) ?? lines.find(text => text.startsWith('nobody:'))
  const [, , uid, gid] = (line ?? '').split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

interface ServerPlace {
  readonly bin: string
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly dir: string
  readonly data: string
}

export interface PostgresServer {
  /** Processor time of the server and of its connections that have ended, seconds. */
  processorSeconds(): number
  /** URL of a new, empty database. */
  database(): Promise<string>
  readonly port: number
  /** Starts a server that follows this one, and answers reads only. */
  replica(): Promise<PostgresReplica>
  /** Ends at once, as when its machine is lost. */
  kill(): Promise<void>
  /** Starts again, with the same data, at the same port. */
  start(): Promise<void>
  /** Ends, and removes its data. */
  close(): Promise<void>
}

interface PostgresReplica extends Pick<PostgresServer, 'kill' | 'close'> {
  /** URL of a database of the server it follows. */
  urlOf(url: string): string
}

/** A PostgreSQL of its own, on the loopback, with its data in a temporary folder. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const bin = binaries()
  if (bin === undefined) throw new Error(POSTGRES_MISSING)
  const user = userOf()
  const dir = mkdtempSync(join(tmpdir(), 'tandem-postgres-'))
  chmodSync(dir, 0o755)
  if (user) chownSync(dir, user.uid, user.gid)
  const data = join(dir, 'data')
  const options = ['--username=tandem', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8']
  execFileSync(join(bin, 'initdb'), ['-D', data, ...options], { ...user, cwd: dir, stdio: 'pipe' })
  return startOn({ bin, user, dir, data })
}

const startOn = async (place: ServerPlace): Promise<PostgresServer> => {
  const { bin, user, dir, data } = place
  const port = await freePort()
  const urlOf = (name: string): string => `postgres://tandem@127.0.0.1:${port}/${name}`
  let child: ChildProcess | undefined
  let databases = 0

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child
    child = undefined
    if (ending === undefined || ending.exitCode !== null) return
    const exited = new Promise(resolve => ending.once('exit', resolve))
    ending.kill(signal)
    await exited
  }
  const onExit = (): void => void child?.kill('SIGQUIT')
  process.once('exit', onExit)
  const server: PostgresServer = {
    processorSeconds: () => (child?.pid === undefined ? 0 : processorSeconds(child.pid)),
    async database() {
      const name = `index_${++databases}`
      await withClient(urlOf('postgres'), client => client.query(`CREATE DATABASE ${name}`))
      return urlOf(name)
    },
    async replica() {
      const copy = mkdtempSync(join(tmpdir(), 'tandem-postgres-'))
      chmodSync(copy, 0o755)
      if (user) chownSync(copy, user.uid, user.gid)
      const target = join(copy, 'data')
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'tandem', '--checkpoint=fast', '--no-sync']
      // Not synchronous: this process serves the pool of connections meanwhile.
      const settings = { ...user, cwd: copy }
      await promisify(execFile)(join(bin, 'pg_basebackup'), ['-D', target, '-R', '-X', 'stream', ...from], settings)
      const { kill, close, port: own } = await startOn({ bin, user, dir: copy, data: target })
      return { kill, close, urlOf: url => url.replace(`:${port}/`, `:${own}/`) }
    },
    port,
    kill: () => end('SIGQUIT'),
    async start() {
      const settings = [
        'fsync=off',
        'full_page_writes=off',
        'listen_addresses=127.0.0.1',
        `unix_socket_directories=${dir}`,
      ]
      const args = ['-D', data, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])]
      child = spawn(join(bin, 'postgres'), args, { ...user, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
      let problems = ''
      child.stderr?.on('data', text => {
        problems = `${problems}${text}`.slice(-4_000)
      })
      const exited = new Promise<never>((_, reject) => {
        child?.once('exit', code => reject(new Error(`postgres ended with ${code}: ${problems}`)))
      })
      exited.catch(() => undefined)
      await Promise.race([untilReady(urlOf('postgres')), exited])
    },
    async close() {
      process.off('exit', onExit)
      await end('SIGQUIT')
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

const CLOCK_TICKS = 100

/** Own times and those of ended children, after the name in brackets. */
const processorSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / CLOCK_TICKS
}

const withClient = async (url: string, use: (client: Client) => Promise<unknown>): Promise<void> => {
  // Loaded only where there is a server.
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

const untilReady = (url: string): Promise<boolean> => {
  const isReady = () => withClient(url, client => client.query('SELECT 1')).then(() => true)
  return eventually('postgres', () => isReady().catch(() => undefined), { everyMs: 50 })
}
