import type { Hex } from '@tandem/base/bytes.ts'
import type { ApiContext } from '@tandem/explorer/api/api-route.ts'
import { keccak256Hex } from '@tandem/explorer/keccak.ts'
import type { VerifiedContract } from '@tandem/explorer/store/contract-store.ts'

/** Stores a contract as verified, with any texts, without compiling it. */
export const writeVerified = async (
  { verification, source }: ApiContext,
  address: Hex,
  changes: Partial<VerifiedContract> = {},
): Promise<void> => {
  const code = await source.state.code(address)
  await verification.contracts.writeContract({
    address,
    codeHash: keccak256Hex(code),
    match: 'exact',
    creationMatch: 'exact',
    runtimeMatch: 'exact',
    path: 'src/Coin.sol',
    name: 'Coin',
    compiler: '0.8.37+commit.f401782d',
    input: inputWith({ 'src/Coin.sol': 'contract Coin {}\n' }),
    abi: '[]',
    metadata: '',
    constructorArguments: '0x',
    libraries: {},
    license: 'MIT',
    verifiedAt: 1_735_689_600,
    ...changes,
  })
}

/** Standard JSON input of sources. */
export const inputWith = (sources: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([path, content]) => [path, { content }])),
    settings: {},
  })
