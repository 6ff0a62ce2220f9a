import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { ROOT } from '../../support/node-process.ts'
import { compileSolidity } from '../../support/solidity.ts'
import type { Random } from '../executor-plans.ts'

/* Contracts in use elsewhere, as compiled by their authors: the council, OpenZeppelin's and Uniswap's; on request some on Solady. */

interface Parameter {
  readonly type: string
  readonly components?: readonly Parameter[]
}
interface Artifact {
  readonly abi: readonly { readonly type: string; readonly name?: string; readonly inputs?: readonly Parameter[] }[]
  readonly bytecode?: unknown
  /** Code of a contract that a genesis has. */
  readonly runtime?: string
  readonly deployedBytecode?: unknown
  readonly evm?: {
    readonly bytecode: { readonly object: string }
    readonly deployedBytecode: { readonly object: string }
  }
}

export interface RealContract {
  readonly name: string
  readonly runtime: Uint8Array
  /** Init code without arguments. */
  readonly init: Uint8Array
  readonly functions: readonly { readonly selector: Uint8Array; readonly words: number }[]
}

const OPENZEPPELIN = 'node_modules/@openzeppelin/contracts/build/contracts'
const FILES = [
  'contracts/Council.json',
  ...[
    'AccessManager',
    'ERC1967Proxy',
    'BeaconProxy',
    'TimelockController',
    'TransparentUpgradeableProxy',
    'ProxyAdmin',
    'UpgradeableBeacon',
    'VestingWallet',
    'ERC2771Forwarder',
  ].map(name => `${OPENZEPPELIN}/${name}.json`),
  'node_modules/@uniswap/v2-core/build/UniswapV2Pair.json',
  'node_modules/@uniswap/v2-core/build/UniswapV2Factory.json',
  'node_modules/@uniswap/v2-core/build/ERC20.json',
]

const bytesOf = (value: unknown): Uint8Array | undefined => {
  const text = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  return text.length > 2 && /^([0-9a-f]{2})+$/i.test(text) ? hexToBytes(`0x${text}` as Hex) : undefined
}

const typeText = ({ type, components }: Parameter): string =>
  components === undefined ? type : `(${components.map(typeText).join()})${type.slice('tuple'.length)}`

const contractFrom = (name: string, artifact: Artifact): RealContract | undefined => {
  const runtime = bytesOf(artifact.deployedBytecode ?? artifact.evm?.deployedBytecode.object ?? artifact.runtime)
  const init =
    bytesOf(typeof artifact.bytecode === 'string' ? artifact.bytecode : artifact.evm?.bytecode.object) ?? runtime
  if (runtime === undefined || init === undefined) return undefined
  const functions = artifact.abi
    .filter(({ type }) => type === 'function')
    .map(({ name, inputs = [] }) => ({
      selector: keccak256(Buffer.from(`${name}(${inputs.map(typeText).join()})`)).subarray(0, 4),
      words: inputs.length,
    }))
  return { name, runtime, init, functions }
}

const readContracts = (): readonly RealContract[] =>
  FILES.map(file => join(ROOT, file))
    .filter(file => existsSync(file))
    .flatMap(file => contractFrom(file, JSON.parse(readFileSync(file, 'utf8')) as Artifact) ?? [])

const compileContracts = (): readonly RealContract[] =>
  compileSoladyContracts().flatMap(({ name, abi, runtime, bytecode }) => {
    const artifact = {
      abi: abi as Artifact['abi'],
      bytecode: bytesToHex(bytecode),
      deployedBytecode: bytesToHex(runtime),
    }
    return contractFrom(name, artifact) ?? []
  })

/** `compiled`: with those on Solady, which take seconds to compile. */
export const loadRealContracts = ({ compiled = false } = {}): readonly RealContract[] =>
  compiled ? [...readContracts(), ...compileContracts()] : readContracts()

/** Call of one of its functions with words that may fit: addresses of the world, offsets, small numbers. */
export const realCallData = ({ functions }: RealContract, random: Random, addresses: readonly Hex[]): Uint8Array => {
  const { pick, chance, int, word } = random
  if (functions.length === 0) return random.bytes(int(40))
  const { selector, words } = pick(functions)
  const argument = (): Uint8Array => {
    if (chance(2)) return hexToBytes(toWord(BigInt(pick(addresses))))
    if (chance(3)) return hexToBytes(toWord(BigInt(int(8) * 32)))
    return hexToBytes(toWord(word()))
  }
  const count = chance(6) ? int(8) : words + (chance(3) ? int(4) : 0)
  const data = concatBytes(selector, ...Array.from({ length: count }, argument))
  return chance(12) ? data.subarray(0, int(data.byteLength)) : data
}

/*
 * Contracts on Solady's libraries, whose assembly uses opcodes as compilers do not: memory above the free pointer, scratch space, returns
 * out of inner blocks, minimal proxies, CREATE3, transient storage. Compiling takes seconds: for the long form of the differential test.
 */

const SOURCE = `
pragma solidity ^0.8.26;
import {FixedPointMathLib as M} from "solady/src/utils/FixedPointMathLib.sol";
import {LibString} from "solady/src/utils/LibString.sol";
import {LibSort} from "solady/src/utils/LibSort.sol";
import {LibBit} from "solady/src/utils/LibBit.sol";
import {LibZip} from "solady/src/utils/LibZip.sol";
import {LibRLP} from "solady/src/utils/LibRLP.sol";
import {LibClone} from "solady/src/utils/LibClone.sol";
import {LibBitmap} from "solady/src/utils/LibBitmap.sol";
import {LibPRNG} from "solady/src/utils/LibPRNG.sol";
import {Base58} from "solady/src/utils/Base58.sol";
import {Base64} from "solady/src/utils/Base64.sol";
import {CREATE3} from "solady/src/utils/CREATE3.sol";
import {DateTimeLib} from "solady/src/utils/DateTimeLib.sol";
import {ECDSA} from "solady/src/utils/ECDSA.sol";
import {P256} from "solady/src/utils/P256.sol";
import {MerkleProofLib} from "solady/src/utils/MerkleProofLib.sol";
import {RedBlackTreeLib} from "solady/src/utils/RedBlackTreeLib.sol";
import {MinHeapLib} from "solady/src/utils/MinHeapLib.sol";
import {SSTORE2} from "solady/src/utils/SSTORE2.sol";
import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {ReentrancyGuardTransient} from "solady/src/utils/ReentrancyGuardTransient.sol";
import {ERC20} from "solady/src/tokens/ERC20.sol";
import {ERC721} from "solady/src/tokens/ERC721.sol";
import {ERC1155} from "solady/src/tokens/ERC1155.sol";
import {WETH} from "solady/src/tokens/WETH.sol";

contract Numbers {
  function mulDiv(uint256 a, uint256 b, uint256 c) external pure returns (uint256) { return M.fullMulDiv(a, b, c); }
  function roots(uint256 a) external pure returns (uint256, uint256, uint256) { return (M.sqrt(a), M.cbrt(a), M.log2(a)); }
  function exponents(int256 a) external pure returns (int256) { return M.expWad(a); }
  function logarithm(int256 a) external pure returns (int256) { return M.lnWad(a); }
  function lambert(int256 a) external pure returns (int256) { return M.lambertW0Wad(a); }
  function power(uint256 a, uint256 b, uint256 c) external pure returns (uint256) { return M.rpow(a, b, c); }
  function gcd(uint256 a, uint256 b) external pure returns (uint256, uint256) { return (M.gcd(a, b), M.invMod(a, b)); }
  function bits(uint256 a) external pure returns (uint256, uint256, uint256, uint256) { return (LibBit.fls(a), LibBit.clz(a), LibBit.popCount(a), LibBit.reverseBits(a)); }
  function date(uint256 a) external pure returns (uint256, uint256, uint256) { return DateTimeLib.epochDayToDate(a); }
  function recover(bytes32 h, uint8 v, bytes32 r, bytes32 s) external view returns (address) { return ECDSA.tryRecover(h, v, r, s); }
  function p256(bytes32 h, bytes32 r, bytes32 s, bytes32 x, bytes32 y) external view returns (bool) { return P256.verifySignature(h, r, s, x, y); }
}

contract Texts {
  using LibPRNG for LibPRNG.PRNG;
  function _bytes(uint256 seed) internal pure returns (bytes memory b) {
    b = new bytes(seed % 200);
    for (uint256 i; i < b.length; ++i) b[i] = bytes1(uint8(seed >> (i % 31)));
  }
  function number(uint256 a) external pure returns (string memory, string memory) { return (LibString.toString(a), LibString.toHexString(a)); }
  function base64(uint256 a) external pure returns (bytes memory) { return Base64.decode(Base64.encode(_bytes(a))); }
  function base58(uint256 a) external pure returns (string memory) { return Base58.encode(_bytes(a % 64)); }
  function zip(uint256 a) external pure returns (bytes memory, bytes memory) { return (LibZip.flzDecompress(LibZip.flzCompress(_bytes(a))), LibZip.cdDecompress(LibZip.cdCompress(_bytes(a)))); }
  function replace(uint256 a) external pure returns (string memory) { return LibString.replace(string(_bytes(a)), string(abi.encodePacked(uint8(a))), "xyz"); }
  function sort(uint256 a, uint256 n) external pure returns (uint256[] memory list) {
    LibPRNG.PRNG memory prng = LibPRNG.PRNG(a);
    list = new uint256[](n % 40);
    for (uint256 i; i < list.length; ++i) list[i] = prng.next() % 64;
    LibSort.sort(list);
    LibSort.uniquifySorted(list);
  }
  function address_(address a, uint256 nonce) external pure returns (address) { return LibRLP.computeAddress(a, nonce); }
  function proof(bytes32[] memory p, bytes32 root, bytes32 leaf) external pure returns (bool) { return MerkleProofLib.verify(p, root, leaf); }
}

contract Stores is ReentrancyGuardTransient {
  using RedBlackTreeLib for RedBlackTreeLib.Tree;
  using MinHeapLib for MinHeapLib.Heap;
  using LibBitmap for LibBitmap.Bitmap;
  RedBlackTreeLib.Tree tree;
  MinHeapLib.Heap heap;
  LibBitmap.Bitmap map;
  function _useTransientReentrancyGuardOnlyOnMainnet() internal pure override returns (bool) { return false; }
  function insert(uint256 a, uint256 b) external nonReentrant { tree.tryInsert(a % 8 + 1); tree.tryInsert(b % 8 + 1); tree.tryRemove(a % 4 + 1); }
  function near(uint256 a) external view returns (bytes32) { return tree.nearest(a); }
  function push(uint256 a, uint256 b) external returns (uint256) { heap.push(a); heap.push(b); return heap.pop(); }
  function toggle(uint256 a, uint256 n) external returns (uint256) { map.toggle(a % 600); map.setBatch(a % 300, n % 700); return map.popCount(0, 900); }
  function write(uint256 a) external returns (bytes memory) { return SSTORE2.read(SSTORE2.write(abi.encode(a, a >> 1))); }
  function clone(address a, uint256 salt) external returns (address) { return LibClone.cloneDeterministic(a, abi.encode(salt), bytes32(salt % 4)); }
  function deploy(uint256 salt, bytes memory code) external payable returns (address) { return CREATE3.deployDeterministic(msg.value, code, bytes32(salt % 4)); }
  function send(address to, uint256 a) external { SafeTransferLib.forceSafeTransferETH(to, a % 10, 5000); }
  function move(address token, address to, uint256 a) external returns (bool) { return SafeTransferLib.trySafeTransferFrom(token, msg.sender, to, a); }
  function again(uint256 a) external nonReentrant { this.insert(a, a); }
}

contract Coin is ERC20 {
  function name() public pure override returns (string memory) { return "Coin"; }
  function symbol() public pure override returns (string memory) { return "C"; }
  function mint(address to, uint256 a) external { _mint(to, a); }
  function burn(address from, uint256 a) external { _burn(from, a); }
}
contract Deed is ERC721 {
  function name() public pure override returns (string memory) { return "Deed"; }
  function symbol() public pure override returns (string memory) { return "D"; }
  function tokenURI(uint256 id) public pure override returns (string memory) { return LibString.toString(id); }
  function mint(address to, uint256 id) external { _safeMint(to, id % 8); }
  function burn(uint256 id) external { _burn(id % 8); }
}
contract Goods is ERC1155 {
  function uri(uint256 id) public pure override returns (string memory) { return LibString.toString(id); }
  function mint(address to, uint256 id, uint256 a) external { _mint(to, id % 4, a, ""); }
}
contract Wrapped is WETH {}
`

const NAMES = ['Numbers', 'Texts', 'Stores', 'Coin', 'Deed', 'Goods', 'Wrapped']

/** In the form of other compilers' artifacts. */
const compileSoladyContracts = () => {
  const compiled = compileSolidity(SOURCE)
  return NAMES.map(name => {
    const contract = compiled[name]
    if (contract === undefined) throw new Error(`no contract ${name}`)
    return { name, ...contract }
  })
}
