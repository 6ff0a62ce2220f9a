// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.13;

import {Script} from "./Script.sol";

abstract contract Test is Script {
    function assertEq(uint256 left, uint256 right) internal pure {
        require(left == right, "not equal");
    }
}
