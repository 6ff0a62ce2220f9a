import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from './command.ts'
import { ROOT } from './node-process.ts'

/** Text of a file under docker/. */
export const dockerFile = (path: string): string => readFileSync(join(ROOT, 'docker', path), 'utf8')

/** Parsed YAML file under docker/. */
export const dockerYaml = <T>(path: string): T => parse(dockerFile(path), { merge: true }) as T

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}

/** Expressions of the alert rules and of the dashboard, by what shows them. */
export const expressions = (): readonly (readonly [name: string, expr: string])[] => {
  const rules = dockerYaml<Rules>('prometheus/alerts.yaml').groups.flatMap(group => group.rules)
  const { panels } = JSON.parse(dockerFile('grafana/dashboards/tandem.json')) as Dashboard
  return [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ]
}

/** Names of the metrics in an expression: what stands neither in braces or brackets, nor before a parenthesis, nor after `by`. */
export const metricsIn = (expr: string): readonly string[] => {
  const plain = expr.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ')
  return [...plain.matchAll(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?!\s*\()|\bup\b/g)].map(([name]) => name)
}

const isRoot = process.getuid?.() === 0

/** Why programs of the image run in the root of this machine; undefined: they run in their own, as their own user. */
export const notInRoot = isRoot ? undefined : 'chroot needs root'

/** Root of the image, in which its programs run. */
export interface ImageRoot {
  /** Path on this machine of a path in the image. */
  readonly outside: (path: string) => string
  /** Path of a file of the image for its programs. */
  readonly inside: (path: string) => string
  /** Program and arguments that run a file of the image with no environment but `env`. */
  readonly command: (
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    file?: string,
  ) => [program: string, args: string[]]
}

/** Makes the root of the image in an empty folder, by the Dockerfile's own command, and adds what an engine does: null device and hosts. */
export const installImage = async (dir: string): Promise<ImageRoot> => {
  const shell = async (command: string) => {
    const { code, stderr } = await run('sh', ['-c', command], { timeoutMs: 580_000 })
    if (code !== 0) throw new Error(`${command}: ${stderr}`)
  }
  const made = /^RUN (npm run .*)$/m.exec(dockerFile('Dockerfile').replaceAll(/\\\n\s*/g, ''))?.[1]
  if (made === undefined) throw new Error('the Dockerfile does not make the root of the image')
  await shell(made.replaceAll(/\/(?=built\b|image\b)/g, `${dir}/`))
  const root = join(dir, 'image')
  for (const folder of ['data', 'dev', 'etc']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  chmodSync(dir, 0o755)
  if (isRoot) {
    await shell(`mknod -m 666 ${root}/dev/null c 1 3`)
    chownSync(join(root, 'data'), 10_001, 10_001)
  }
  const outside = (path: string) => join(root, path)
  const inside = isRoot ? (path: string) => path : outside
  const within = isRoot ? ['chroot', '--userspec=10001:10001', root] : []
  return {
    outside,
    inside,
    command: (args, env = {}, file = '/app/tandem') => {
      const variables = Object.entries({ PATH: process.env['PATH'], HOME: '/', ...env })
      return ['env', ['-i', ...variables.map(each => each.join('=')), ...within, inside(file), ...args]]
    },
  }
}
