import type { VerifiedContract } from '@tandem/explorer/store/contract-store.ts'

/** A verified contract as the store keeps it. */
export const storedContract = (fields: Partial<VerifiedContract> = {}): VerifiedContract => ({
  address: `0x${'ab'.repeat(20)}`,
  codeHash: `0x${'cd'.repeat(32)}`,
  match: 'exact',
  creationMatch: null,
  runtimeMatch: 'exact',
  path: 'src/A.sol',
  name: 'A',
  compiler: '0.8.37+commit.f401782d',
  input: '{"language":"Solidity"}',
  abi: '[]',
  metadata: '{}',
  constructorArguments: null,
  libraries: { 'src/A.sol:B': `0x${'ef'.repeat(20)}` },
  license: 'MIT',
  verifiedAt: 1_735_689_600,
  ...fields,
})
