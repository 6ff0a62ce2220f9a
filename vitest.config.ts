import { defineConfig } from 'vitest/config'

const project = (name: string, extra: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], environment: 'node', pool: 'forks', ...extra },
})

export default defineConfig({
  test: {
    projects: [
      project('unit', { testTimeout: 20_000 }),
      project('property', { testTimeout: 120_000 }),
      project('sim', { testTimeout: 120_000 }),
      project('conformance', { testTimeout: 120_000 }),
      project('e2e', { testTimeout: 180_000, hookTimeout: 120_000, fileParallelism: false }),
    ],
  },
})
