import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from './command.ts'
import { ROOT } from './devnet.ts'

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

/** Command of the RUN line of a stage of the Dockerfile. */
const commandOf = (stage: string): string => {
  const text = dockerFile('Dockerfile')
    .split(/^FROM /m)
    .find(one => one.split('\n')[0]?.endsWith(` AS ${stage}`))
  const command = text?.match(/^RUN (.*)$/m)?.[1]
  if (command === undefined) throw new Error(`the Dockerfile has no stage ${stage} with a command`)
  return command
}

/** Makes the files of the image below `dir`, by the Dockerfile's own commands; returns the folder that is /app in the image. */
export const installImage = async (dir: string): Promise<string> => {
  const [app, pack] = [join(dir, 'app'), join(dir, 'pack')]
  mkdirSync(app)
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(ROOT, name), join(app, name))
  cpSync(join(ROOT, 'packages'), join(app, 'packages'), { recursive: true })
  const shell = async (command: string, cwd: string) => {
    const { code, stderr } = await run('sh', ['-c', command.replaceAll('/pack', pack)], { cwd })
    if (code !== 0) throw new Error(`${command}: ${stderr}`)
  }
  await shell(commandOf('packages'), app)
  await shell(commandOf('files'), ROOT)
  rmSync(join(app, 'package-lock.json'))
  cpSync(join(pack, 'package'), app, { recursive: true })
  return app
}
