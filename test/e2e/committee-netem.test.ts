import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whyNoNetem } from '../support/netem.ts'
import { ROOT } from '../support/node-process.ts'

const why = whyNoNetem()
const BLOCKS = 8

test.skipIf(why !== undefined)(
  `four validators over a network namespace that is late and loses packets${why === undefined ? '' : ` (skipped: ${why})`}`,
  () => {
    const bench = join(ROOT, 'bench', 'committee.ts')
    const args = ['--mode', 'netem', '--blocks', String(BLOCKS), '--block-time', '0.5']
    const { status, stdout, stderr } = spawnSync(process.execPath, [bench, ...args], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ figure }) => figure)).toEqual(['interval', 'rounds', 'agreement'])
    for (const line of lines) expect(line['by']).toBe('tc netem')
    expect(lines[1]).toMatchObject({ fork: null })
    expect(lines[1]?.['blocks']).toBeGreaterThanOrEqual(BLOCKS)
  },
)
