/** Flags that docs/testing-with-tandem.md recommends for suites of contracts. */
export const SUITE_FLAGS = ['--block-time', '0', '--unlock', '--client-name', 'hardhat', '--accounts', '20'] as const
