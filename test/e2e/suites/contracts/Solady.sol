// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "solady/src/tokens/ERC721.sol";
import {WETH} from "solady/src/tokens/WETH.sol";
import {LibClone} from "solady/src/utils/LibClone.sol";
import {MerkleProofLib} from "solady/src/utils/MerkleProofLib.sol";
import {FixedPointMathLib} from "solady/src/utils/FixedPointMathLib.sol";

contract Wrapped is WETH {}

contract Item is ERC721 {
    function name() public pure override returns (string memory) {
        return "Item";
    }

    function symbol() public pure override returns (string memory) {
        return "I";
    }

    function tokenURI(uint256) public pure override returns (string memory) {
        return "";
    }

    function mint(address to, uint256 id) external {
        _safeMint(to, id);
    }
}

contract Library {
    event Cloned(address instance);

    function clone(address implementation, bytes calldata args, bytes32 salt) external {
        emit Cloned(LibClone.cloneDeterministic(implementation, args, salt));
    }

    function predict(address implementation, bytes calldata args, bytes32 salt) external view returns (address) {
        return LibClone.predictDeterministicAddress(implementation, args, salt, address(this));
    }

    function argsOf(address instance) external view returns (bytes memory) {
        return LibClone.argsOnClone(instance);
    }

    function verify(bytes32[] calldata proof, bytes32 root, bytes32 leaf) external pure returns (bool) {
        return MerkleProofLib.verifyCalldata(proof, root, leaf);
    }

    function fullMulDiv(uint256 x, uint256 y, uint256 d) external pure returns (uint256) {
        return FixedPointMathLib.fullMulDiv(x, y, d);
    }

    function sqrt(uint256 x) external pure returns (uint256) {
        return FixedPointMathLib.sqrt(x);
    }
}
