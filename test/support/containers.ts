import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
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
