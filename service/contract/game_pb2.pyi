from sodafountain.v1.game_pb2 import *
